/** One table with its indexes: heap and b-trees kept in step. */
import { BtreeSimulation } from "./btree-simulation.ts";
import { HeapSimulation, type Version } from "./heap-simulation.ts";
import { maxAlign, pageBytes, tidBytes } from "./page.ts";
import {
  heapTupleBytes,
  type IndexShape,
  indexTupleBytes,
  type RowWidths,
  type TableShape,
} from "./tuple.ts";
import type { WalMeter } from "./wal-meter.ts";

/** Per index name a number that sorts as its keys do; an index that is left out does not hold the row. */
export type Keys = Readonly<Record<string, number>>;

export type ColumnsToTell = (a: number, b: number) => number;

export interface TableSizes {
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly rows: number;
  readonly hotShare: number;
}

export class TableSimulation {
  readonly shape: TableShape;
  readonly #heap: HeapSimulation;
  readonly #indexes: { name: string; tree: BtreeSimulation }[];
  #changedSinceVacuum = 0;

  /**
   * @param sample widths of a row as it is indexed, to size index tuples by.
   * @param tell per index name, how many leading columns tell two keys apart; one by default.
   * @param isExcerpt the rows are some of many, see {@link BtreeSimulation}.
   */
  constructor(
    wal: WalMeter,
    shape: TableShape,
    sample: RowWidths,
    tell: Readonly<Record<string, ColumnsToTell>> = {},
    isExcerpt = false,
  ) {
    this.shape = shape;
    this.#heap = new HeapSimulation(wal, shape.fillFactor);
    this.#indexes = shape.indexes.map((index) => ({
      name: index.name,
      tree: new BtreeSimulation(
        wal,
        this.#heap,
        {
          tupleBytes: indexTupleBytes(shape, index, sample),
          boundBytes: (columns) => boundBytes(shape, index, sample, columns),
          keyColumns: index.columns.length,
          isUnique: index.isUnique,
          fillFactor: index.fillFactor,
          columnsToTell: tell[index.name] ?? ((a, b) => (a === b ? index.columns.length + 1 : 1)),
        },
        isExcerpt,
      ),
    }));
  }

  insert(row: RowWidths, keys: Keys): Version {
    const version = this.#heap.insert(heapTupleBytes(this.shape, row));
    this.#enter(version, keys, false);
    return version;
  }

  /**
   * @param mayBeHot false when the change touches a column of an index or of its WHERE clause.
   * @returns the version that stands for the row from now on.
   */
  update(old: Version, row: RowWidths, keys: Keys, mayBeHot = true, changedBytes?: number): Version {
    // The row is found by its first index.
    const [finder] = this.#indexes;
    const key = finder === undefined ? undefined : keys[finder.name];
    if (key !== undefined) finder?.tree.lookUp(key);
    const { version, isHot } = this.#heap.update(
      old,
      heapTupleBytes(this.shape, row),
      mayBeHot,
      changedBytes,
    );
    if (!isHot) this.#enter(version, keys, true);
    this.#changedSinceVacuum++;
    return version;
  }

  delete(version: Version): void {
    this.#heap.delete(version);
    this.#changedSinceVacuum++;
  }

  lock(version: Version): void {
    this.#heap.lock(version);
  }

  commit(): void {
    this.#heap.commit();
  }

  /** Vacuums when autovacuum would: `threshold` rows and `scale` of the table have changed. */
  autovacuum(threshold: number, scale: number): boolean {
    if (this.#changedSinceVacuum <= threshold + scale * this.#heap.rows) return false;
    this.vacuum();
    return true;
  }

  vacuum(): void {
    this.#changedSinceVacuum = 0;
    // PostgreSQL cleans the indexes between the two heap passes; the order does not change any size.
    const cleansIndexes = this.#heap.vacuum();
    for (const { tree } of this.#indexes) {
      if (cleansIndexes) tree.vacuum();
      else tree.cleanUp();
    }
  }

  sizes(): TableSizes {
    return {
      heapBytes: this.#heap.bytes,
      indexBytes: this.#indexes.reduce((sum, { tree }) => sum + tree.pages * pageBytes, 0),
      rows: this.#heap.rows,
      hotShare: this.#heap.hotShare,
    };
  }

  #enter(version: Version, keys: Keys, isUnchanged: boolean): void {
    for (const { name, tree } of this.#indexes) {
      const key = keys[name];
      if (key !== undefined) tree.insert(key, this.#heap.rootOf(version), isUnchanged);
    }
  }
}

/** An index tuple cut to its first columns; with the row pointer where even all of them are not enough. */
function boundBytes(shape: TableShape, index: IndexShape, sample: RowWidths, columns: number): number {
  const kept = { ...index, columns: index.columns.slice(0, columns) };
  const rowPointer = columns > index.columns.length ? maxAlign(tidBytes) : 0;
  return indexTupleBytes(shape, kept, sample) + rowPointer;
}
