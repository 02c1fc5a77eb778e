/** A workbook as data: pages of cells, some of which hold a formula beside its value. */

export type CellStyle =
  | "title"
  | "heading"
  | "headingRight"
  | "headingIndented"
  | "text"
  | "textIndented"
  | "note"
  | "input"
  | "computed"
  | "total"
  | "good"
  | "label";

/** How a number is shown. */
export type NumberFormat =
  | "whole"
  | "decimal"
  | "percent"
  | "money"
  | "gigabytes"
  | "megabytes"
  | "gibibytes";

export interface WorkbookCell {
  /** The value; for a formula the value it gives now. */
  readonly value: string | number;
  /** Without the equals sign. */
  readonly formula?: string;
  readonly style: CellStyle;
  readonly format?: NumberFormat;
  /** Columns this cell stretches over. */
  readonly span?: number;
}

export type WorkbookRow = readonly (WorkbookCell | undefined)[];

export interface WorkbookPage {
  readonly name: string;
  /** Widths in characters. */
  readonly columns: readonly number[];
  readonly rows: readonly WorkbookRow[];
  /** Rows that stay on the screen. */
  readonly sticky: number;
}

export interface Workbook {
  readonly pages: readonly WorkbookPage[];
}

export const text = (value: string, style: CellStyle = "text", span?: number): WorkbookCell => ({
  value,
  style,
  ...(span !== undefined && { span }),
});

/** Heads of columns; those of numbers stand above their digits, those of notes above their indented text. */
export const headings = (
  names: readonly string[],
  numeric: readonly number[] = [],
  notes: readonly number[] = [],
): WorkbookCell[] =>
  names.map((name, i) => {
    if (numeric.includes(i)) return text(name, "headingRight");
    const isIndented = numeric.includes(i - 1) || notes.includes(i);
    return text(name, isIndented ? "headingIndented" : "heading");
  });

/** A value that the reader may change. */
export const input = (value: number, format: NumberFormat = "decimal"): WorkbookCell => ({
  value,
  style: "input",
  format,
});

export const number = (value: number, format: NumberFormat = "decimal"): WorkbookCell => ({
  value,
  style: "text",
  format,
});

/** @param value what the formula gives for the values around it. */
export const computed = (
  formula: string,
  value: number | string,
  format: NumberFormat = "decimal",
  style: CellStyle = "computed",
): WorkbookCell => ({
  formula,
  value,
  style,
  ...(typeof value === "number" && { format }),
});

/** `A`, `B`, … `Z`, `AA`. @param index from 0 */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

/** Collects rows and hands out the addresses of cells, so that formulas cannot point beside their mark. */
export class PageBuilder {
  readonly name: string;
  readonly #columns: readonly number[];
  readonly #rows: WorkbookRow[] = [];
  readonly #sticky: number;

  constructor(name: string, columns: readonly number[], sticky = 0) {
    this.name = name;
    this.#columns = columns;
    this.#sticky = sticky;
  }

  /** Adds a row; returns its number, from 1. */
  row(...cells: WorkbookRow): number {
    this.#rows.push(cells);
    return this.#rows.length;
  }

  /** An empty line. */
  gap(): void {
    this.row();
  }

  /** The number that the next row will have. */
  get next(): number {
    return this.#rows.length + 1;
  }

  /** An address for formulas of this page and of others. */
  address(row: number, column: number): string {
    return `'${this.name.replaceAll("'", "''")}'!$${columnName(column)}$${row}`;
  }

  build(): WorkbookPage {
    return { name: this.name, columns: this.#columns, rows: this.#rows, sticky: this.#sticky };
  }
}
