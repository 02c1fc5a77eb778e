/** Reads CSV of any size, line by line: quoted fields with doubled quotes, `\n` or `\r\n`, the first line names the columns. */
import { createReadStream } from "node:fs";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { plainText } from "./plain-text.ts";

export interface CsvLine {
  readonly fields: readonly string[];
  /** From 1; where the record begins. */
  readonly line: number;
}

/** A record longer than this is a file that is no CSV. */
const longestRecord = 1_000_000;

/**
 * @param onLine is called for every record after the first. Synchronous, because a file may have ten million of them.
 * @returns the column names
 * @throws E_FILE_UNREADABLE, E_BAD_DATA
 */
export async function readCsv(
  file: string,
  onHeader: (columns: readonly string[]) => void,
  onLine: (line: CsvLine) => void,
): Promise<void> {
  const stream = createReadStream(file, { highWaterMark: 1 << 20 });
  stream.setEncoding("utf8");
  let rest = "";
  let number = 1;
  let hasHeader = false;
  const take = (text: string, line: number) => {
    if (text === "") return;
    const fields = splitRecord(text, file, line);
    if (hasHeader) onLine({ fields, line });
    else {
      hasHeader = true;
      onHeader(fields.map((name) => name.replace(/^\uFEFF/, "").trim()));
    }
  };
  try {
    for await (const chunk of stream) {
      rest += chunk as string;
      const ends = new RecordEnds(rest);
      let from = 0;
      for (;;) {
        const end = ends.after(from);
        if (end < 0) break;
        const text = rest.slice(from, rest.charCodeAt(end - 1) === 13 ? end - 1 : end);
        take(text, number);
        number += text.includes('"') ? 1 + countNewlines(text) : 1;
        from = end + 1;
      }
      rest = rest.slice(from);
      if (rest.length > longestRecord) throw broken(file, number, "a record has no end");
    }
  } catch (error) {
    if (error instanceof EscapementError) throw error;
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
  take(rest.replace(/\r$/, ""), number);
  if (!hasHeader) throw broken(file, 1, "the file is empty");
}

/** Finds ends of records in a piece of text; newlines inside quotes do not count. */
class RecordEnds {
  readonly #text: string;
  /** The next quote, so that text without quotes is not searched for one again and again. */
  #quote: number;

  constructor(text: string) {
    this.#text = text;
    this.#quote = text.indexOf('"');
  }

  /** Place of the newline that ends the record, or -1: it is not whole yet. */
  after(from: number): number {
    const text = this.#text;
    let end = text.indexOf("\n", from);
    if (this.#quote >= 0 && this.#quote < from) this.#quote = text.indexOf('"', from);
    if (end < 0 || this.#quote < 0 || this.#quote > end) return end;
    let quotes = 0;
    let at = this.#quote;
    while (end >= 0) {
      for (; at < end; at++) if (text.charCodeAt(at) === 34) quotes++;
      if (quotes % 2 === 0) return end;
      end = text.indexOf("\n", end + 1);
    }
    return -1;
  }
}

function splitRecord(text: string, file: string, line: number): string[] {
  if (!text.includes('"')) return text.split(",");
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    if (text[at] !== '"') {
      const comma = text.indexOf(",", at);
      fields.push(comma < 0 ? text.slice(at) : text.slice(at, comma));
      if (comma < 0) return fields;
      at = comma + 1;
      continue;
    }
    let value = "";
    for (;;) {
      const quote = text.indexOf('"', at + 1);
      if (quote < 0) throw broken(file, line, "a quoted field has no end");
      value += text.slice(at + 1, quote);
      if (text[quote + 1] !== '"') {
        at = quote + 1;
        break;
      }
      value += '"';
      at = quote + 1;
    }
    fields.push(value);
    if (at >= text.length) return fields;
    if (text[at] !== ",") throw broken(file, line, "text follows a quoted field");
    at++;
  }
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function broken(file: string, line: number, what: string): EscapementError {
  return new EscapementError(
    "E_BAD_DATA",
    { what: `${file}: ${what}`, hint: "write CSV: commas, quotes around fields that hold one" },
    { at: `${file}:${line}` },
  );
}

/** A file that is no CSV has no names worth telling. */
const namesTold = 12;

/** Place of a column by name. @throws E_BAD_DATA naming the columns there are, or that there are two */
export function columnIndex(columns: readonly string[], wanted: string, file: string): number {
  const index = columns.indexOf(wanted);
  if (index >= 0 && columns.indexOf(wanted, index + 1) >= 0) {
    throw new EscapementError(
      "E_BAD_DATA",
      { what: `${file} has two columns ${plainText(wanted)}`, hint: "give each column a name of its own" },
      { at: `${file}:1` },
    );
  }
  if (index >= 0) return index;
  const told = columns.slice(0, namesTold).map(plainText).join(", ");
  const separator =
    columns.length === 1 && /[;\t]/.test(columns[0]!) ? "; fields are separated by commas" : "";
  throw new EscapementError(
    "E_BAD_DATA",
    {
      what: `${file} has no column ${plainText(wanted)}`,
      hint: `it has: ${told}${columns.length > namesTold ? ", …" : ""}${separator}`,
    },
    { at: `${file}:1` },
  );
}
