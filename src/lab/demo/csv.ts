/** Comma-separated values as RFC 4180 has them: quoted fields may hold commas, quotes and line ends. */

export interface CsvRecord {
  /** Of its first character, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** Splits a text into records. A quoted field that never ends takes the rest of the text. */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  const field = /(?:"((?:[^"]|"")*)(?:"|$)|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  let fields: string[] = [];
  let line = 1;
  let start = 1;
  field.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (!match) {
      // A quote in the middle of a field, or text after a closing one: taken as it stands, so that the reader complains.
      const end = text.indexOf("\n", at);
      fields.push(text.slice(at, end < 0 ? undefined : end));
      field.lastIndex = end < 0 ? text.length : end + 1;
      records.push({ line: start, fields });
      fields = [];
      line += 1;
      start = line;
      continue;
    }
    const [whole, quoted, plain = "", end = ""] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split("\n").length - 1;
    if (end === ",") {
      // A comma at the very end leaves one more, empty field.
      if (field.lastIndex < text.length) continue;
      fields.push("");
    }
    if (fields.length > 1 || fields[0] !== "") records.push({ line: start, fields });
    fields = [];
    start = line;
  }
  return records;
}
