/**
 * A b-tree's leaf level without its contents: where splits fall, what
 * deduplication and deletion give back, and what this writes to the log.
 *
 * Keys are numbers that sort as the real keys do. Entries point at the root
 * versions of a {@link HeapSimulation}, which knows which of them are dead.
 */
import type { HeapSimulation, Version } from "./heap-simulation.ts";
import { btreeUsable, linePointerBytes, maxAlign, tidBytes } from "./page.ts";
import type { LoggedPage, WalMeter } from "./wal-meter.ts";

export interface BtreeOptions {
  /** A stored tuple with one row pointer, bytes. */
  readonly tupleBytes: number;
  readonly keyColumns: number;
  readonly isUnique: boolean;
  readonly fillFactor: number;
  /** How many leading columns it takes to tell two keys apart; more than `keyColumns` for equal keys. */
  columnsToTell(a: number, b: number): number;
}

interface Item {
  readonly key: number;
  /** One row pointer, or a posting list. */
  roots: Version[];
}

class Leaf implements LoggedPage {
  items: Item[] = [];
  used = 0;
  imageAt = -1;

  filledBytes(): number {
    return 24 + 16 + this.used;
  }
}

/** Tuples wider than two 8-byte columns are not split as an ascending group. */
const widestGrouped = 28;
/** A posting list grows to at most this size. */
const mostPostingBytes = 1_352;
/** A bottom-up deletion is content with this much room, and looks at this many heap pages at most. */
const contentBytes = 512;
const mostHeapPages = 6;
/** So many places near the wanted one are considered for a split. */
const splitChoices = 9;

export class BtreeSimulation {
  readonly #wal: WalMeter;
  readonly #heap: HeapSimulation;
  readonly #options: BtreeOptions;
  readonly #leaves: Leaf[] = [new Leaf()];
  /** Smallest key that belongs to each leaf. */
  readonly #bounds: number[] = [Number.NEGATIVE_INFINITY];
  #allocated = 1;
  #reusable = 0;
  #emptied = 0;

  constructor(wal: WalMeter, heap: HeapSimulation, options: BtreeOptions) {
    this.#wal = wal;
    this.#heap = heap;
    this.#options = options;
  }

  /** Leaf, inner and meta pages. */
  get pages(): number {
    const fanOut = Math.floor((btreeUsable * 0.75) / (this.#options.tupleBytes + linePointerBytes));
    let inner = 0;
    for (let level = this.#allocated; level > 1; inner += level) level = Math.ceil(level / fanOut);
    return 1 + this.#allocated + inner;
  }

  /** @param isUnchanged true for an entry that only a new version of its row made necessary. */
  insert(key: number, root: Version, isUnchanged: boolean): void {
    let at = this.#find(key);
    const size = this.#options.tupleBytes;
    if (!this.#fits(at, size)) {
      this.#makeRoom(at, key, size, isUnchanged);
      if (!this.#fits(at, size)) {
        this.#split(at, key, root);
        return;
      }
      at = this.#find(key);
    }
    const leaf = this.#leaves[at]!;
    insertSorted(leaf.items, { key, roots: [root] });
    leaf.used += size + linePointerBytes;
    this.#wal.record("index", 2, [{ page: leaf, bytes: size, isNew: leaf.items.length === 1 }]);
  }

  /** Removes the entries of dead rows, as vacuum does. */
  vacuum(): void {
    // Pages emptied by the vacuum before are safe to use again now.
    this.#reusable += this.#emptied;
    this.#emptied = 0;
    for (let at = this.#leaves.length - 1; at >= 0; at--) {
      const leaf = this.#leaves[at]!;
      const removed = this.#removeDead(leaf, () => true);
      if (removed === 0) continue;
      this.#wal.record("vacuum", 4, [{ page: leaf, bytes: 2 * removed }]);
      if (leaf.items.length === 0 && at < this.#leaves.length - 1 && this.#leaves.length > 1) {
        this.#leaves.splice(at, 1);
        this.#bounds.splice(at, 1);
        this.#bounds[0] = Number.NEGATIVE_INFINITY;
        this.#emptied++;
      }
    }
  }

  #find(key: number): number {
    let low = 0;
    let high = this.#bounds.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#bounds[middle]! <= key) low = middle;
      else high = middle;
    }
    return low;
  }

  #capacity(at: number): number {
    // All but the last page carry the upper bound of their keys.
    return at === this.#leaves.length - 1
      ? btreeUsable
      : btreeUsable - this.#options.tupleBytes - linePointerBytes;
  }

  #fits(at: number, size: number): boolean {
    return this.#leaves[at]!.used + size + linePointerBytes <= this.#capacity(at);
  }

  #makeRoom(at: number, key: number, size: number, isUnchanged: boolean): void {
    const leaf = this.#leaves[at]!;
    const hasTwin = leaf.items.some((item) => item.key === key);
    if (this.#options.isUnique && !hasTwin) return;
    if (isUnchanged || (this.#options.isUnique && hasTwin)) {
      this.#bottomUp(leaf);
      if (this.#fits(at, size)) return;
    }
    this.#deduplicate(leaf);
  }

  /** Asks the heap about the entries most likely dead, a few heap pages' worth. */
  #bottomUp(leaf: Leaf): void {
    const promising = new Map<number, number>();
    let before: Item | undefined;
    for (const item of leaf.items) {
      const isDuplicate = item.roots.length > 1 || before?.key === item.key;
      if (isDuplicate) {
        for (const root of [...item.roots, ...(before?.key === item.key ? before.roots : [])]) {
          const page = this.#heap.pageOf(root);
          promising.set(page, (promising.get(page) ?? 0) + 1);
        }
      }
      before = item;
    }
    const pages = [...promising].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, mostHeapPages);
    const start = leaf.used;
    let removed = 0;
    for (const [page] of pages) {
      const here = this.#removeDead(leaf, (root) => this.#heap.pageOf(root) === page);
      if (here === 0) break;
      removed += here;
      if (start - leaf.used >= contentBytes) break;
    }
    if (removed > 0) this.#wal.record("index", 8, [{ page: leaf, bytes: 4 * removed }]);
  }

  #removeDead(leaf: Leaf, where: (root: Version) => boolean): number {
    let removed = 0;
    const stay: Item[] = [];
    for (const item of leaf.items) {
      const alive = item.roots.filter((root) => !(where(root) && this.#heap.isDead(root)));
      if (alive.length === item.roots.length) {
        stay.push(item);
        continue;
      }
      removed += item.roots.length - alive.length;
      leaf.used -=
        this.#itemBytes(item.roots.length) - (alive.length === 0 ? 0 : this.#itemBytes(alive.length));
      if (alive.length > 0) stay.push({ key: item.key, roots: alive });
    }
    if (removed > 0) leaf.items = stay;
    return removed;
  }

  #deduplicate(leaf: Leaf): void {
    const merged: Item[] = [];
    let intervals = 0;
    let last: Item | undefined;
    let lastIsNew = false;
    for (const item of leaf.items) {
      const roots = last && last.key === item.key ? last.roots.length + item.roots.length : 0;
      if (last && roots > 0 && this.#itemBytes(roots) <= mostPostingBytes) {
        if (!lastIsNew) intervals++;
        last = { key: item.key, roots: [...last.roots, ...item.roots] };
        merged[merged.length - 1] = last;
        lastIsNew = true;
      } else {
        merged.push(item);
        last = item;
        lastIsNew = false;
      }
    }
    if (intervals === 0) return;
    leaf.items = merged;
    leaf.used = merged.reduce((sum, item) => sum + this.#itemBytes(item.roots.length), 0);
    this.#wal.record("index", 2, [{ page: leaf, bytes: 4 * intervals }]);
  }

  /** With its line pointer. */
  #itemBytes(roots: number): number {
    const { tupleBytes } = this.#options;
    return (roots === 1 ? tupleBytes : maxAlign(tupleBytes + roots * tidBytes)) + linePointerBytes;
  }

  #split(at: number, key: number, root: Version): void {
    const { tupleBytes } = this.#options;
    const leaf = this.#leaves[at]!;
    const isLast = at === this.#leaves.length - 1;
    const place = insertSorted(leaf.items, { key, roots: [root] });
    leaf.used += tupleBytes + linePointerBytes;
    const first = this.#splitPoint(leaf, place, isLast);
    const right = new Leaf();
    right.items = leaf.items.splice(first);
    right.used = right.items.reduce((sum, item) => sum + this.#itemBytes(item.roots.length), 0);
    leaf.used -= right.used;
    this.#leaves.splice(at + 1, 0, right);
    this.#bounds.splice(at + 1, 0, right.items[0]!.key);
    if (this.#reusable > 0) this.#reusable--;
    else this.#allocated++;
    const moved = right.used - right.items.length * linePointerBytes;
    const sibling = this.#leaves[at + 2];
    const blocks = [
      { page: leaf as LoggedPage, bytes: 2 * tupleBytes },
      { page: right as LoggedPage, bytes: moved + (isLast ? 0 : tupleBytes), isNew: true },
    ];
    if (sibling) blocks.push({ page: sibling, bytes: 0 });
    this.#wal.record("index", 10, blocks);
    this.#wal.plain("index", 24 + 2 + 2 + 20 + 8 + tupleBytes);
  }

  /** Index of the first item that goes to the right page. */
  #splitPoint(leaf: Leaf, place: number, isLast: boolean): number {
    const { fillFactor } = this.#options;
    if (isLast) return this.#pointAt(leaf, fillFactor / 100);
    if (this.#looksGrouped(leaf, place)) {
      const share = (place + 1) / (leaf.items.length + 1);
      return share > fillFactor / 100
        ? this.#pointAt(leaf, fillFactor / 100)
        : Math.min(place + 1, leaf.items.length - 1);
    }
    return this.#pointAt(leaf, 0.5);
  }

  /** The same first column before and after, ascending, and all tuples of one small size. */
  #looksGrouped(leaf: Leaf, place: number): boolean {
    const { keyColumns, tupleBytes, columnsToTell } = this.#options;
    if (keyColumns === 1 || place === 0 || tupleBytes + linePointerBytes > widestGrouped) return false;
    if (leaf.items.some((item) => item.roots.length > 1)) return false;
    const before = leaf.items[place - 1]!;
    const item = leaf.items[place]!;
    const needed = columnsToTell(before.key, item.key);
    if (needed === 1 || needed > keyColumns) return false;
    if (place === leaf.items.length - 1) return true;
    const gap = this.#heap.pageOf(item.roots[0]!) - this.#heap.pageOf(before.roots[0]!);
    return gap === 0 || gap === 1;
  }

  /**
   * The place nearest to `share` of the page, or one of the next few if fewer
   * columns tell the two sides apart there.
   */
  #pointAt(leaf: Leaf, share: number): number {
    const { items } = leaf;
    const wanted = leaf.used * share;
    let nearest = 1;
    let sum = 0;
    for (let i = 0; i < items.length - 1 && sum < wanted; i++) {
      const size = this.#itemBytes(items[i]!.roots.length);
      nearest = sum + size - wanted > wanted - sum && i > 0 ? i : i + 1;
      sum += size;
    }
    let best = nearest;
    let fewest = Number.POSITIVE_INFINITY;
    for (let step = 0; step < splitChoices; step++) {
      const point = nearest + (step % 2 === 1 ? (step + 1) / 2 : -step / 2);
      if (point < 1 || point >= items.length) continue;
      const needed = this.#options.columnsToTell(items[point - 1]!.key, items[point]!.key);
      if (needed < fewest) {
        fewest = needed;
        best = point;
      }
    }
    return best;
  }
}

/** Inserts after every item with the same key; returns the place. */
function insertSorted(items: Item[], item: Item): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.key <= item.key) low = middle + 1;
    else high = middle;
  }
  items.splice(low, 0, item);
  return low;
}
