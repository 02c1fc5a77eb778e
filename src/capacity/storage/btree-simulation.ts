/**
 * A b-tree's leaf level without its contents: where splits fall, what
 * deduplication and deletion give back, and what this writes to the log.
 *
 * Keys are numbers that sort as the real keys do. Entries point at the root
 * versions of a {@link HeapSimulation}, which knows which of them are dead.
 */
import { countedBytes, deleteBottomUp } from "./bottom-up-deletion.ts";
import { BtreeLeaf, type LeafItem } from "./btree-leaf.ts";
import { type BtreeOptions, itemBytes, splitPoint } from "./btree-split.ts";
import type { HeapSimulation, Version } from "./heap-simulation.ts";
import { btreeUsable, linePointerBytes, pageBytes } from "./page.ts";
import type { WalMeter } from "./wal-meter.ts";

/** Tuples wider than two 8-byte columns are not split as an ascending group. */
const widestGrouped = 28;
/** A posting list grows to at most this size. */
const mostPostingBytes = 1_352;
/** A bottom-up deletion that leaves less room than this is followed by deduplication. */
const contentBytes = Math.floor(pageBytes / 24);
/** Above this share of its pages, emptied ones are collected even without dead rows. */
const emptiedShare = 0.05;
/** How full inner pages are after splits in the middle. */
const innerFill = 0.6;

export class BtreeSimulation {
  readonly #wal: WalMeter;
  readonly #heap: HeapSimulation;
  readonly #options: BtreeOptions;
  readonly #leaves: BtreeLeaf[] = [new BtreeLeaf()];
  /** Smallest key that belongs to each leaf. */
  readonly #bounds: number[] = [Number.NEGATIVE_INFINITY];
  #allocated = 1;
  #reusable = 0;
  #emptied = 0;

  /** @param isExcerpt the keys are some from the middle of many: none of them is the last in the index. */
  constructor(wal: WalMeter, heap: HeapSimulation, options: BtreeOptions, isExcerpt = false) {
    this.#wal = wal;
    this.#heap = heap;
    this.#options = options;
    if (!isExcerpt) return;
    this.#leaves[0]!.boundBytes = options.boundBytes(1) + linePointerBytes;
    this.#leaves.push(new BtreeLeaf());
    this.#bounds.push(Number.POSITIVE_INFINITY);
  }

  /** Leaf, inner and meta pages. */
  get pages(): number {
    const most = Math.floor(btreeUsable / (this.#options.tupleBytes + linePointerBytes));
    let inner = 0;
    for (let level = this.#allocated; level > 1; inner += level) {
      level = level <= most ? 1 : Math.ceil(level / (most * innerFill));
    }
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
    leaf.insert({ key, roots: [root] }, size + linePointerBytes);
    this.#wal.record("index", 2, [{ page: leaf, bytes: size, isNew: leaf.items.length === 1 }]);
  }

  /** Looks a key up, as an update does to find its row, and marks entries that lead to dead rows only. */
  lookUp(key: number): void {
    for (const item of this.#leaves[this.#find(key)]!.withKey(key)) {
      if (item.roots.every((root) => this.#heap.isDead(root))) item.isKilled = true;
    }
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

  /** What a vacuum does to an index when the table has no dead rows: many emptied pages are handed out again. */
  cleanUp(): void {
    if (this.#emptied <= emptiedShare * this.#allocated) return;
    this.#reusable += this.#emptied;
    this.#emptied = 0;
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

  #fits(at: number, size: number): boolean {
    const leaf = this.#leaves[at]!;
    return leaf.used + size + linePointerBytes <= btreeUsable - leaf.boundBytes;
  }

  #makeRoom(at: number, key: number, size: number, isUnchanged: boolean): void {
    const leaf = this.#leaves[at]!;
    if (this.#deleteKilled(leaf) && this.#fits(at, size)) return;
    const hasTwin = leaf.items.some((item) => item.key === key);
    if (this.#options.isUnique && !hasTwin) return;
    if (isUnchanged || (this.#options.isUnique && hasTwin)) {
      this.#bottomUp(leaf);
      if (this.#fits(at, Math.max(contentBytes, size))) return;
    }
    this.#deduplicate(leaf);
  }

  /** Removes marked entries, and dead ones that point at the same heap pages. */
  #deleteKilled(leaf: BtreeLeaf): boolean {
    const pages = new Set<number>();
    for (const { isKilled, roots } of leaf.items) {
      if (isKilled) for (const root of roots) pages.add(this.#heap.pageOf(root));
    }
    if (pages.size === 0) return false;
    const removed = this.#removeDead(leaf, (root) => pages.has(this.#heap.pageOf(root)));
    this.#wal.record("index", 8, [{ page: leaf, bytes: 4 * removed }]);
    return true;
  }

  /** Asks the heap about the entries most likely dead, a few heap pages' worth. */
  #bottomUp(leaf: BtreeLeaf): void {
    const pageOf = (root: Version) => this.#heap.pageOf(root);
    const removed = deleteBottomUp(leaf.items, pageOf, (page) => {
      let freedBytes = 0;
      const here = this.#removeDead(leaf, (root, item) => {
        if (pageOf(root) !== page) return false;
        if (this.#heap.isDead(root)) freedBytes += countedBytes(item, this.#options.tupleBytes);
        return true;
      });
      return { removed: here, freedBytes };
    });
    if (removed > 0) this.#wal.record("index", 8, [{ page: leaf, bytes: 4 * removed }]);
  }

  #removeDead(leaf: BtreeLeaf, where: (root: Version, item: LeafItem) => boolean): number {
    let removed = 0;
    const stay: LeafItem[] = [];
    for (const item of leaf.items) {
      const alive = item.roots.filter((root) => !(where(root, item) && this.#heap.isDead(root)));
      if (alive.length === item.roots.length) {
        stay.push(item);
        continue;
      }
      removed += item.roots.length - alive.length;
      leaf.used -=
        itemBytes(this.#options, item.roots.length) -
        (alive.length === 0 ? 0 : itemBytes(this.#options, alive.length));
      if (alive.length > 0) stay.push({ key: item.key, roots: alive });
    }
    if (removed > 0) leaf.items = stay;
    return removed;
  }

  #deduplicate(leaf: BtreeLeaf): void {
    const merged: LeafItem[] = [];
    let intervals = 0;
    let last: LeafItem | undefined;
    let lastIsNew = false;
    for (const item of leaf.items) {
      const roots = last && last.key === item.key ? last.roots.length + item.roots.length : 0;
      if (last && roots > 0 && itemBytes(this.#options, roots) <= mostPostingBytes) {
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
    leaf.used = merged.reduce((sum, item) => sum + itemBytes(this.#options, item.roots.length), 0);
    this.#wal.record("index", 2, [{ page: leaf, bytes: 4 * intervals }]);
  }

  #split(at: number, key: number, root: Version): void {
    const { tupleBytes } = this.#options;
    const leaf = this.#leaves[at]!;
    const isLast = at === this.#leaves.length - 1;
    const place = leaf.insert({ key, roots: [root] }, tupleBytes + linePointerBytes);
    const first = this.#splitPoint(leaf, place, isLast);
    const right = new BtreeLeaf();
    right.items = leaf.items.splice(first);
    right.used = right.items.reduce((sum, item) => sum + itemBytes(this.#options, item.roots.length), 0);
    leaf.used -= right.used;
    right.boundBytes = leaf.boundBytes;
    const told = this.#options.columnsToTell(leaf.items.at(-1)!.key, right.items[0]!.key);
    leaf.boundBytes = this.#options.boundBytes(told) + linePointerBytes;
    this.#leaves.splice(at + 1, 0, right);
    this.#bounds.splice(at + 1, 0, right.items[0]!.key);
    if (this.#reusable > 0) this.#reusable--;
    else this.#allocated++;
    const moved = right.used - right.items.length * linePointerBytes;
    const sibling = this.#leaves[at + 2];
    const blocks = [
      { page: leaf, bytes: 2 * tupleBytes },
      { page: right, bytes: moved + (isLast ? 0 : tupleBytes), isNew: true },
    ];
    if (sibling) blocks.push({ page: sibling, bytes: 0 });
    this.#wal.record("index", 10, blocks);
    this.#wal.plain("index", 24 + 2 + 2 + 20 + 8 + tupleBytes);
  }

  /** Index of the first item that goes to the right page. */
  #splitPoint(leaf: BtreeLeaf, place: number, isLast: boolean): number {
    const { fillFactor } = this.#options;
    if (isLast) return splitPoint(this.#options, leaf, fillFactor / 100);
    if (this.#looksGrouped(leaf, place)) {
      const share = (place + 2) / (leaf.items.length + 1);
      return share > fillFactor / 100
        ? splitPoint(this.#options, leaf, fillFactor / 100)
        : Math.min(place + 1, leaf.items.length - 1);
    }
    return splitPoint(this.#options, leaf, 0.5);
  }

  /** The same first column before and after, ascending, and all tuples of one small size. */
  #looksGrouped(leaf: BtreeLeaf, place: number): boolean {
    const { keyColumns, tupleBytes, columnsToTell } = this.#options;
    if (keyColumns === 1 || place === 0 || tupleBytes + linePointerBytes > widestGrouped) return false;
    if (leaf.items.some((item) => item.roots.length > 1)) return false;
    const before = leaf.items[place - 1]!;
    const item = leaf.items[place]!;
    const needed = columnsToTell(before.key, item.key);
    if (needed === 1 || needed > keyColumns) return false;
    if (place === leaf.items.length - 1) return true;
    // Rows that were inserted one after the other, as far as the index can see that.
    const [last, next] = [before.roots[0]!, item.roots[0]!];
    const gap = this.#heap.pageOf(next) - this.#heap.pageOf(last);
    return gap === 0 || (gap === 1 && this.#heap.isFirstOnPage(next));
  }
}
