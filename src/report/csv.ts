/** Writes CSV that no spreadsheet program takes for a formula. */

/**
 * Text that a spreadsheet program would run is given an apostrophe, which makes it text. Tabs, line ends and
 * other control characters become one space: a program that splits at every line end must not find a formula there.
 */
export function safeCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const line = value.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  return /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u.test(line) ? `'${line}` : line;
}

/** A number that a double cannot hold exactly, as the database writes it. */
export interface Decimal {
  readonly decimal: string;
}

export type Cell = string | number | Decimal;

/** Lines end in CR LF, as the format has it. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

function field(value: Cell): string {
  const text =
    typeof value === "object" && /^-?\d+(\.\d+)?$/.test(value.decimal)
      ? value.decimal
      : safeCell(typeof value === "object" ? value.decimal : value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
