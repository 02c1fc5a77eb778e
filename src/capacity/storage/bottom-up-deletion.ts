/**
 * Which heap pages a bottom-up index deletion looks at before a leaf page is
 * split, in PostgreSQL's order: pages that many duplicate entries point at first,
 * then pages that many entries point at, then by number.
 */
import type { LeafItem } from "./btree-leaf.ts";
import type { Version } from "./heap-simulation.ts";
import { linePointerBytes, pageBytes, tidBytes } from "./page.ts";

/** At most so many heap pages are looked at. */
const mostHeapPages = 6;
/** Pages this close to the one before are worth a longer look. */
const closePages = 3;
/** So much room is wanted at least. */
const wantedBytes = pageBytes / 16;

interface HeapPageVotes {
  readonly page: number;
  promising: number;
  entries: number;
}

/**
 * @param removeOn removes a leaf's dead entries that point at this heap page; returns how much room that may free.
 * @returns how many entries went, as `removeOn` counted them
 */
export function deleteBottomUp(
  items: readonly LeafItem[],
  pageOf: (root: Version) => number,
  removeOn: (page: number) => { readonly removed: number; readonly freedBytes: number },
): number {
  const votes = rank(countVotes(items, pageOf)).slice(0, mostHeapPages);
  let favourable = countFavourable(votes);
  let wanted = wantedBytes;
  let freed = 0;
  let removed = 0;
  for (const [i, { page }] of votes.entries()) {
    if (i > 0) {
      if (favourable > 0) favourable--;
      else wanted /= 2;
    } else favourable--;
    const result = removeOn(page);
    if (result.removed === 0) break;
    removed += result.removed;
    freed += result.freedBytes;
    if (freed >= wanted) break;
  }
  return removed;
}

/** The room that one deleted entry is counted for. */
export function countedBytes(item: LeafItem, tupleBytes: number): number {
  return item.roots.length === 1 ? tupleBytes + linePointerBytes : tidBytes;
}

function countVotes(items: readonly LeafItem[], pageOf: (root: Version) => number): HeapPageVotes[] {
  const votes = new Map<number, HeapPageVotes>();
  const vote = (page: number, promising: boolean) => {
    const known = votes.get(page);
    if (!known) votes.set(page, { page, promising: Number(promising), entries: 1 });
    else {
      known.entries++;
      if (promising) known.promising++;
    }
  };
  for (let i = 0; i < items.length; i++) {
    const { key, roots } = items[i]!;
    const isDuplicate = items[i - 1]?.key === key || items[i + 1]?.key === key;
    if (roots.length === 1) {
      vote(pageOf(roots[0]!), isDuplicate);
      continue;
    }
    // In a posting list only an end whose half lies on one page is promising.
    const first = pageOf(roots[0]!);
    const middle = pageOf(roots[roots.length >> 1]!);
    const last = pageOf(roots.at(-1)!);
    roots.forEach((root, at) => {
      const isPromising =
        isDuplicate &&
        ((first === middle && at === 0) || (first !== middle && middle === last && at === roots.length - 1));
      vote(pageOf(root), isPromising);
    });
  }
  return [...votes.values()];
}

function rank(votes: HeapPageVotes[]): HeapPageVotes[] {
  const bucket = ({ promising }: HeapPageVotes) => (promising <= 4 ? 4 : nextPowerOf2(promising));
  return votes.sort(
    (a, b) => bucket(b) - bucket(a) || nextPowerOf2(b.entries) - nextPowerOf2(a.entries) || a.page - b.page,
  );
}

function countFavourable(votes: readonly HeapPageVotes[]): number {
  let count = 0;
  let last = votes[0]?.page ?? 0;
  for (const { page } of votes) {
    if (Math.abs(page - last) > closePages) break;
    count++;
    last = page;
  }
  return count;
}

function nextPowerOf2(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}
