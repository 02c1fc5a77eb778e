/** Real payments: one CSV file a month, named after it, for example `payments-2026-07.csv`. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { type CsvRecord, parseCsv } from "./csv.ts";
import { parsePence } from "./money.ts";
import type { Payment } from "./payment.ts";

const columns = ["row", "payment_date", "unit", "supplier_id", "amount"] as const;
const monthInName = /(?<!\d)(\d{4}-(?:0[1-9]|1[0-2]))(?!\d)/;

/**
 * Reads every `*.csv` of a folder. A row's key is file and row.
 * @throws E_FILE_UNREADABLE, E_BAD_DATA with file and line
 */
export async function readPaymentFiles(folder: string): Promise<Payment[]> {
  const names = (await reading(folder, readdir(folder))).filter((name) => /\.csv$/i.test(name)).sort();
  if (names.length === 0)
    throw bad(`${folder} has no *.csv file`, "give a folder with files such as payments-2026-07.csv");
  const payments: Payment[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const found = readPayments(await reading(path, readFile(path, "utf8")), name);
    // One at a time: a spread of so many arguments would not fit on the stack.
    for (const payment of found) payments.push(payment);
  }
  return payments;
}

/** The text of one file. @param file its name, which must hold the month. @throws E_BAD_DATA */
export function readPayments(text: string, file: string): Payment[] {
  const period = monthInName.exec(file)?.[1];
  if (period === undefined)
    throw bad(`the name ${file} has no month in it`, "name it for example payments-2026-07.csv");
  const [header, ...records] = parseCsv(text);
  const places = columns.map((column) => header?.fields.findIndex((field) => field.trim() === column) ?? -1);
  const missing = columns.filter((_, i) => places[i] === -1);
  if (missing.length > 0)
    throw bad(`${file}:1 has no column ${missing.join(", ")}`, `the first line names: ${columns.join(",")}`);
  const seen = new Set<number>();
  return records.map((record) => {
    const payment = readRecord(record, places, file, period, header!.fields.length);
    if (seen.has(payment.row))
      throw bad(`${file}:${record.line} row ${payment.row} is there twice`, "a row's number is its identity");
    seen.add(payment.row);
    return payment;
  });
}

function readRecord(
  { fields, line }: CsvRecord,
  places: readonly number[],
  file: string,
  period: string,
  width: number,
): Payment {
  const wrong = (what: string, hint: string) => bad(`${file}:${line} ${what}`, hint);
  if (fields.length !== width)
    throw wrong(`has ${fields.length} fields instead of ${width}`, "put quotes around a field with a comma");
  const [row = "", date = "", unit = "", supplier = "", amount = ""] = places.map((place) =>
    fields[place]!.trim(),
  );
  const pence = parsePence(amount);
  if (!/^\d{1,9}$/.test(row)) throw wrong(`row: ${row} is not a whole number`, "count the rows from 1");
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date)))
    throw wrong(`payment_date: ${date} is not a date`, "write it as 2026-07-31");
  if (supplier === "") throw wrong("supplier_id is empty", "only the unit may be empty");
  if (pence === undefined)
    throw wrong(`amount: ${amount} is not an amount`, "write it as 1200.00, or -1200.00 for a credit note");
  return { file, row: Number(row), period, date, unit: unit === "" ? null : unit, supplier, pence };
}

async function reading<T>(path: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw new EscapementError(
      "E_FILE_UNREADABLE",
      { file: path, reason: messageOf(error) },
      { cause: error },
    );
  }
}

function bad(what: string, hint: string): EscapementError {
  return new EscapementError("E_BAD_DATA", { what, hint });
}
