/** Keys that a table holds more than once, and what that sums up to: the list that finance asks for. */
import { EscapementError } from "../../base/errors.ts";
import { closest } from "../../spec/closest.ts";
import type { Database, Queryable } from "../database.ts";

export interface DuplicateQuestion {
  /** `table` or `schema.table`; without a schema, the first one of the search path. */
  readonly table: string;
  /** Columns that together may occur once. */
  readonly key: readonly string[];
  readonly amount: string;
}

export interface DuplicateKey {
  readonly key: readonly string[];
  readonly times: number;
  /** Exact decimals, as the database writes them. */
  readonly total: string;
  /** What is too much: the total without the largest of the amounts. */
  readonly surplus: string;
  /** The rows of this key do not carry the same amount: a person must see which one is right. */
  readonly amountsDiffer: boolean;
  /** For each writer column that the table has: the different values, at most 20. */
  readonly writers: Readonly<Record<string, readonly string[]>>;
}

export interface DuplicateSummary {
  readonly keys: number;
  /** Rows beyond the first of each key. */
  readonly surplusRows: number;
  readonly surplus: string;
  /** Columns that tell who wrote a row; empty: the table has none. */
  readonly writerColumns: readonly string[];
  /** The amount is a floating-point number: its sums are not exact. */
  readonly inexact: boolean;
  /** Rows of those keys whose amount is NaN or infinite: no sum has them. */
  readonly notFinite: number;
}

/** Columns by which jobs mark their rows, in the order in which they are shown. */
const writerColumns = [
  "execution_id",
  "job_name",
  "job",
  "fire_time",
  "run_no",
  "shard_no",
  "attempt",
  "fence_token",
  "written_by",
  "created_at",
  "inserted_at",
];

const page = 1_000;
const numericTypes = new Set(["int2", "int4", "int8", "numeric", "money", "float4", "float8"]);

/**
 * Hands every duplicated key to `take`, largest surplus first, page by page, in
 * one read-only transaction. `take` says whether it wants more.
 * @throws E_BAD_VALUE for a table or column that does not exist
 */
export async function readDuplicates(
  db: Database,
  question: DuplicateQuestion,
  take: (keys: readonly DuplicateKey[]) => boolean,
): Promise<DuplicateSummary> {
  return db.transaction(async (tx) => {
    await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    const table = await findTable(tx, question.table);
    const columns = await readColumns(tx, table.oid);
    for (const name of question.key) requireColumn(columns, name, "--key", question.table);
    const amountType = requireColumn(columns, question.amount, "--amount", question.table);
    if (!numericTypes.has(amountType))
      throw badValue(
        "--amount",
        question.amount,
        `a column of numbers; it is ${amountType}`,
        "name the column with the amount",
      );
    const writers = writerColumns.filter((name) => columns.has(name) && !question.key.includes(name));
    await tx.query(
      `DECLARE duplicate_key CURSOR FOR ${statement(table.name, question, writers, amountType)}`,
    );
    let summary = { keys: 0, surplusRows: 0, surplus: "0", notFinite: 0 };
    for (;;) {
      const { rows } = await tx.query<Row>(`FETCH ${page} FROM duplicate_key`);
      const [first] = rows;
      if (first)
        summary = {
          keys: first.keys,
          surplusRows: first.surplus_rows,
          surplus: first.surplus_all,
          notFinite: first.not_finite_all,
        };
      if (rows.length > 0 && !take(rows.map((row) => keyOf(row, question.key.length, writers)))) break;
      if (rows.length < page) break;
    }
    return { ...summary, writerColumns: writers, inexact: amountType.startsWith("float") };
  });
}

interface Row extends Record<string, unknown> {
  readonly times: number;
  readonly total: string;
  readonly surplus: string;
  readonly amounts_differ: boolean;
  readonly keys: number;
  readonly surplus_rows: number;
  readonly surplus_all: string;
  readonly not_finite_all: number;
}

function statement(
  table: string,
  { key, amount }: DuplicateQuestion,
  writers: readonly string[],
  amountType: string,
): string {
  const keys = key.map(quoted);
  const value = `${quoted(amount)}::numeric`;
  // One NaN would make every sum NaN. Older servers know no infinite numeric, so its text is asked.
  const mayBeNone = amountType === "numeric" || amountType.startsWith("float");
  const finite = mayBeNone ? `CASE WHEN ${quoted(amount)}::text ~ '[0-9]' THEN ${value} END` : value;
  const seen = writers.map(
    (name, i) =>
      `, (array_agg(DISTINCT ${quoted(name)}::text) FILTER (WHERE ${quoted(name)} IS NOT NULL))[1:20] AS w${i}`,
  );
  return `SELECT d.*, d.total_number::text AS total, d.surplus_number::text AS surplus,
      (count(*) OVER ())::integer AS keys, (sum(d.times - 1) OVER ())::integer AS surplus_rows,
      (sum(d.surplus_number) OVER ())::text AS surplus_all, (sum(d.not_finite) OVER ())::integer AS not_finite_all
    FROM (
      SELECT ${keys.map((one, i) => `${one}::text AS k${i}`).join(", ")}, count(*)::integer AS times,
        coalesce(sum(${finite}), 0) AS total_number, coalesce(sum(${finite}) - max(${finite}), 0) AS surplus_number,
        count(DISTINCT ${finite}) > 1 OR count(${finite}) < count(*) AS amounts_differ,
        count(${quoted(amount)}) - count(${finite}) AS not_finite${seen.join("")}
      FROM ${table} WHERE ${keys.map((one) => `${one} IS NOT NULL`).join(" AND ")}
      GROUP BY ${keys.join(", ")} HAVING count(*) > 1) d
    ORDER BY abs(d.surplus_number) DESC, ${keys.map((_, i) => `d.k${i}`).join(", ")}`;
}

function keyOf(row: Row, keys: number, writers: readonly string[]): DuplicateKey {
  return {
    key: Array.from({ length: keys }, (_, i) => row[`k${i}`] as string),
    times: row.times,
    total: row.total,
    surplus: row.surplus,
    amountsDiffer: row.amounts_differ,
    writers: Object.fromEntries(writers.map((name, i) => [name, (row[`w${i}`] as string[] | null) ?? []])),
  };
}

/** @returns its oid, and its name written so that nothing in it can be taken for SQL */
async function findTable(tx: Queryable, given: string): Promise<{ oid: number; name: string }> {
  const dot = given.indexOf(".");
  const [schema, table] = dot < 0 ? [null, given] : [given.slice(0, dot), given.slice(dot + 1)];
  const { rows } = await tx.query<{ oid: number; name: string }>(
    `SELECT c.oid::integer AS oid, format('%I.%I', n.nspname, c.relname) AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
       AND CASE WHEN $2::text IS NULL THEN pg_table_is_visible(c.oid) ELSE n.nspname = $2 END`,
    [table, schema],
  );
  if (rows[0]) return rows[0];
  const known = await tx.query<{ name: string }>(
    `SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const near = closest(
    given,
    known.rows.map(({ name }) => name),
  );
  throw badValue(
    "--table",
    given,
    "a table of that database",
    near ? `did you mean ${near}?` : "write SCHEMA.TABLE, as it is spelled in the database",
  );
}

/** Name → type. */
async function readColumns(tx: Queryable, oid: number): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ name: string; type: string }>(
    `SELECT a.attname AS name, t.typname AS type FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [oid],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

function requireColumn(
  columns: ReadonlyMap<string, string>,
  name: string,
  option: string,
  table: string,
): string {
  const type = columns.get(name);
  if (type !== undefined) return type;
  const near = closest(name, [...columns.keys()]);
  throw badValue(
    option,
    name,
    `a column of ${table}`,
    near ? `did you mean ${near}?` : `it has ${[...columns.keys()].join(", ")}`,
  );
}

function badValue(option: string, value: string, expected: string, hint: string): EscapementError {
  return new EscapementError("E_BAD_VALUE", { option, value: JSON.stringify(value), expected, hint });
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
