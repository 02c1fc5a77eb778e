/** How many bytes a row takes, from its columns, by PostgreSQL's layout rules. */
import { alignTo, indexTupleHeaderBytes, maxAlign, tupleHeaderBytes } from "./page.ts";

/** A column as `pg_attribute` describes it. */
export interface ColumnShape {
  readonly name: string;
  /** Bytes of a fixed-length type, or -1 for a variable one (`attlen`). */
  readonly length: number;
  /** 1, 2, 4 or 8 (`attalign`). */
  readonly alignment: number;
}

export interface IndexShape {
  readonly name: string;
  /** Key columns in order. */
  readonly columns: readonly string[];
  readonly isUnique: boolean;
  /** True for an index with a WHERE clause. */
  readonly isPartial: boolean;
  /** Percent, 90 unless the index says otherwise. */
  readonly fillFactor: number;
}

export interface TableShape {
  readonly name: string;
  readonly columns: readonly ColumnShape[];
  readonly indexes: readonly IndexShape[];
  /** Percent, 100 unless the table says otherwise. */
  readonly fillFactor: number;
}

/**
 * The data bytes of one row: a number for a variable-length column, true for a
 * fixed-length one that is set. What is missing is null.
 */
export type RowWidths = Readonly<Record<string, number | true>>;

/** Length of a heap tuple: header, null bitmap if anything is null, columns aligned in order. Not yet rounded up. */
export function heapTupleBytes(table: TableShape, row: RowWidths): number {
  const hasNulls = table.columns.some(({ name }) => row[name] === undefined);
  const header = maxAlign(tupleHeaderBytes + (hasNulls ? Math.ceil(table.columns.length / 8) : 0));
  return dataEnd(table.columns, row, header);
}

/** Length of a b-tree tuple of one index, rounded up as it is stored. Nulls are not expected in keys. */
export function indexTupleBytes(table: TableShape, index: IndexShape, row: RowWidths): number {
  const columns = index.columns.map((name) => {
    const column = table.columns.find((one) => one.name === name);
    if (!column) throw new RangeError(`index ${index.name} names a column ${name} that ${table.name} lacks`);
    return column;
  });
  return maxAlign(dataEnd(columns, row, indexTupleHeaderBytes));
}

function dataEnd(columns: readonly ColumnShape[], row: RowWidths, start: number): number {
  let end = start;
  for (const { name, length, alignment } of columns) {
    const width = row[name];
    if (width === undefined) continue;
    if (length >= 0) end = alignTo(end, alignment) + length;
    else if (width === true) throw new RangeError(`column ${name} needs a width`);
    // Up to 126 bytes a value has a one-byte header and no alignment; above, four bytes, aligned.
    else if (width <= 126) end += 1 + width;
    else end = alignTo(end, alignment) + 4 + width;
  }
  return end;
}
