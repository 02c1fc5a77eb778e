/** Where a leaf page of a b-tree is split. */
import type { BtreeLeaf } from "./btree-leaf.ts";
import { btreeUsable, linePointerBytes, maxAlign, tidBytes } from "./page.ts";

export interface BtreeOptions {
  /** A stored tuple with one row pointer, bytes. */
  readonly tupleBytes: number;
  /** A tuple cut to its first so many columns, as a bound between pages; one more for columns and row pointer. */
  boundBytes(columns: number): number;
  readonly keyColumns: number;
  readonly isUnique: boolean;
  readonly fillFactor: number;
  /** How many leading columns it takes to tell two keys apart; more than `keyColumns` for equal keys. */
  columnsToTell(a: number, b: number): number;
}

/** Places this close to the wanted one, as a part of the page's data, are considered. */
const splitTolerance = 0.05;

/** Bytes of an item with so many row pointers, its line pointer included. */
export function itemBytes({ tupleBytes }: BtreeOptions, roots: number): number {
  return (roots === 1 ? tupleBytes : maxAlign(tupleBytes + roots * tidBytes)) + linePointerBytes;
}

/**
 * Of all places that share out the free room about as asked, the first at which
 * the fewest columns tell the two sides apart.
 * @param share of the free room that goes to the right page
 */
export function splitPoint(options: BtreeOptions, leaf: BtreeLeaf, share: number): number {
  const { items } = leaf;
  const { tupleBytes, boundBytes, columnsToTell, keyColumns } = options;
  // The left page gets a bound, for which room is set aside as if nothing could be cut off.
  const leftRoom = btreeUsable - boundBytes(keyColumns + 1) - linePointerBytes;
  const rightRoom = btreeUsable - leaf.boundBytes;
  const points: { at: number; left: number; delta: number }[] = [];
  let left = 0;
  for (let at = 1; at < items.length; at++) {
    left += itemBytes(options, items[at - 1]!.roots.length);
    const leftFree = leftRoom - left;
    const rightFree = rightRoom - (leaf.used - left);
    if (leftFree < 0 || rightFree < 0) continue;
    points.push({ at, left, delta: Math.abs(share * leftFree - (1 - share) * rightFree) });
  }
  points.sort((a, b) => a.delta - b.delta);
  const middle = points[0];
  if (!middle) return Math.max(1, items.length >> 1);
  const tolerance = (leaf.used - tupleBytes) * splitTolerance;
  let best = middle.at;
  let fewest = Number.POSITIVE_INFINITY;
  for (const point of points) {
    if (Math.abs(point.left - middle.left) > tolerance) break;
    const needed = columnsToTell(items[point.at - 1]!.key, items[point.at]!.key);
    if (needed < fewest) {
      fewest = needed;
      best = point.at;
    }
  }
  return best;
}
