/** A leaf page of a simulated b-tree. */
import type { Version } from "./heap-simulation.ts";
import type { LoggedPage } from "./wal-meter.ts";

export interface LeafItem {
  readonly key: number;
  /** One row pointer, or a posting list. */
  readonly roots: readonly Version[];
  /** A reader found every row behind it dead: it goes when the page is next short of room. */
  isKilled?: boolean;
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
    const place = this.#after(item.key);
    this.items.splice(place, 0, item);
    this.used += bytes;
    return place;
  }

  /** The items with this key. */
  withKey(key: number): LeafItem[] {
    const found: LeafItem[] = [];
    for (let at = this.#after(key) - 1; at >= 0 && this.items[at]!.key === key; at--)
      found.push(this.items[at]!);
    return found;
  }

  #after(key: number): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle]!.key <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
