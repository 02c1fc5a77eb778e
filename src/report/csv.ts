/** Writes CSV that no spreadsheet program takes for a formula. */

/** Text that a spreadsheet program would run is given an apostrophe, which makes it text. */
export function safeCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}

/** Lines end in CR LF, as the format has it. */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

function field(value: string | number): string {
  const text = safeCell(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
