/** A leaf page of a simulated b-tree. */
import type { Version } from "./heap-simulation.ts";
import type { LoggedPage } from "./wal-meter.ts";

export interface LeafItem {
  readonly key: number;
  /** One row pointer, or a posting list. */
  readonly roots: readonly Version[];
}

export class BtreeLeaf implements LoggedPage {
  items: LeafItem[] = [];
  /** Items with their line pointers. */
  used = 0;
  /** The upper bound of the page's keys with its line pointer; the last page has none. */
  boundBytes = 0;
  imageAt = -1;

  filledBytes(): number {
    return 24 + 16 + this.boundBytes + this.used;
  }

  /** Inserts after every item with the same key; returns the place. */
  insert(item: LeafItem, bytes: number): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle]!.key <= item.key) low = middle + 1;
      else high = middle;
    }
    this.items.splice(low, 0, item);
    this.used += bytes;
    return low;
  }
}
