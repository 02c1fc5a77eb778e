/** Streams a histogram of work by key, from CSV files or from a query, into a tally. */
import { EscapementError, messageOf } from "../../base/errors.ts";
import { keyHash } from "../../capacity/shards/key-hash.ts";
import { KeyTally } from "../../capacity/shards/key-tally.ts";
import type { Database } from "../../store/database.ts";
import { columnIndex, readCsv } from "./csv-stream.ts";

export interface HistogramColumns {
  readonly key: string;
  /** Column of the work; absent: every line counts one. */
  readonly weight?: string;
}

/** Keys above this share are counted exactly, with a second pass if the first one cannot tell. */
const exactAbove = 0.005;

type Add = (key: string, weight: number) => void;

/** Passes over the source once, or twice where heavy keys are not known exactly. */
async function tallyPasses(
  shardCounts: readonly number[],
  pass: (add: Add) => Promise<void>,
): Promise<KeyTally> {
  const tally = new KeyTally(shardCounts, keyHash);
  await pass((key, weight) => tally.add(key, weight));
  const open = new Map(tally.uncertainKeys(exactAbove).map((key) => [key, 0]));
  if (open.size === 0) return tally;
  await pass((key, weight) => {
    const known = open.get(key);
    if (known !== undefined) open.set(key, known + weight);
  });
  for (const [key, weight] of open) tally.settle(key, weight);
  return tally;
}

/** Rows are fetched in pieces of this many, so that memory stays flat. */
const fetchRows = 20_000;

/** Lines with the same key add up. @throws E_FILE_UNREADABLE, E_BAD_DATA */
export async function tallyFiles(
  files: readonly string[],
  columns: HistogramColumns,
  shardCounts: readonly number[],
): Promise<KeyTally> {
  const tally = await tallyPasses(shardCounts, (add) => passFiles(files, columns, add));
  if (tally.lines > 0) return checkedTotal(tally, files.join(", "));
  throw new EscapementError("E_BAD_DATA", {
    what: `${files.join(", ")}: no line but the first`,
    hint: "a histogram has one line for each key",
  });
}

/** Work must add up to a number that can be shared out. */
function checkedTotal(tally: KeyTally, source: string): KeyTally {
  if (tally.total > 0 && Number.isFinite(tally.total)) return tally;
  throw new EscapementError("E_BAD_DATA", {
    what: `${source}: the work of all keys adds up to ${tally.total === 0 ? "nothing" : "more than a number holds"}`,
    hint: "give the rows or the seconds of each key",
  });
}

async function passFiles(files: readonly string[], columns: HistogramColumns, add: Add): Promise<void> {
  for (const file of files) {
    let key = 0;
    let weight: number | undefined;
    await readCsv(
      file,
      (names) => {
        key = columnIndex(names, columns.key, file);
        weight = columns.weight === undefined ? undefined : columnIndex(names, columns.weight, file);
      },
      ({ fields, line }) => {
        const name = fields[key];
        const value = weight === undefined ? 1 : Number(fields[weight]);
        if (name === undefined || name === "") throw wrong(file, line, "the key is missing");
        if (!Number.isFinite(value) || value < 0 || (weight !== undefined && fields[weight]?.trim() === "")) {
          throw wrong(
            file,
            line,
            `${columns.weight} is ${JSON.stringify(fields[weight!] ?? "")}, not a number of at least 0`,
          );
        }
        add(name, value);
      },
    );
  }
}

/** @param sql returns a key and, optionally, its work, in this order. @throws E_BAD_DATA, E_STORE_UNAVAILABLE */
export async function tallyQuery(
  url: string,
  sql: string,
  shardCounts: readonly number[],
): Promise<KeyTally> {
  const tally = await tallyPasses(shardCounts, (add) => passQuery(url, sql, add));
  if (tally.lines > 0) return checkedTotal(tally, "the query's answer");
  throw new EscapementError("E_BAD_DATA", {
    what: "the query returned no row",
    hint: "return a key and its work, one row for each key",
  });
}

/** The query with names of our own for its columns: its own may be the same, or none. */
function named(sql: string, columns: string): string {
  return `SELECT ${columns} FROM (${sql.replace(/;\s*$/, "")}\n) AS histogram(${columns})`;
}

/** `key, work` where the query returns two columns or more, else `key`. */
async function columnsOf(db: Database, sql: string): Promise<string> {
  const { sqlState } = await import("../../store/database.ts");
  try {
    await db.query(`${named(sql, "key, work")} LIMIT 0`);
    return "key, work";
  } catch (error) {
    // More names than columns.
    if (sqlState(error) === "42P10") return "key";
    throw error;
  }
}

async function passQuery(url: string, sql: string, add: Add): Promise<void> {
  const { Database, sqlState } = await import("../../store/database.ts");
  const db = new Database(url, {
    maxConnections: 1,
    applicationName: "escapement-capacity",
    queryTimeoutMs: 600_000,
  });
  try {
    const columns = await columnsOf(db, sql);
    await db.transaction(async (tx) => {
      await tx.query("SET TRANSACTION READ ONLY");
      await tx.query(`DECLARE keys NO SCROLL CURSOR FOR ${named(sql, columns)}`);
      for (;;) {
        const { rows } = await tx.query<{ key: unknown; work?: unknown }>(`FETCH ${fetchRows} FROM keys`);
        if (rows.length === 0) return;
        for (const row of rows) {
          const { key, work } = row;
          const weight = work === undefined ? 1 : Number(work);
          if (key === null || work === null || !Number.isFinite(weight) || weight < 0) {
            throw new EscapementError("E_BAD_DATA", {
              what: `the query returned ${JSON.stringify(row)}`,
              hint: "return a key and its work, a number of at least 0, in this order",
            });
          }
          add(String(key), weight);
        }
      }
    });
  } catch (error) {
    if (sqlState(error) === undefined || error instanceof EscapementError) throw error;
    throw new EscapementError(
      "E_BAD_VALUE",
      {
        option: "--keys-query",
        value: JSON.stringify(sql),
        expected: "a query that the database can answer",
        hint: `it says: ${messageOf(error)}; write a SELECT that returns a key and its work`,
      },
      { cause: error },
    );
  } finally {
    await db.end();
  }
}

function wrong(file: string, line: number, what: string): EscapementError {
  return new EscapementError(
    "E_BAD_DATA",
    { what, hint: "correct the line, or name other columns with --key-column and --weight-column" },
    { at: `${file}:${line}` },
  );
}
