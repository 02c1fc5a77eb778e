/** Duplicated keys of a job's own table: exact sums, quoted names, read only. */
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/store/database.ts";
import { type DuplicateKey, readDuplicates } from "../../../src/store/diagnose/duplicate-rows.ts";
import { freshDatabase } from "../../support/database.ts";

async function database(...statements: string[]): Promise<Database> {
  const { url, drop } = await freshDatabase({ migrated: false });
  const db = new Database(url, { maxConnections: 1 });
  onTestFinished(async () => {
    await db.end();
    await drop();
  });
  for (const statement of statements) await db.query(statement);
  return db;
}

async function all(db: Database, table: string, key: string[], amount: string) {
  const keys: DuplicateKey[] = [];
  const summary = await readDuplicates(db, { table, key, amount }, (page) => keys.push(...page) > 0);
  return { keys, summary };
}

test("sums are exact where a double would round, and each writer is named", async () => {
  const db = await database(
    "CREATE TABLE payout (user_id text, period text, amount numeric, execution_id uuid, shard_no integer)",
    `INSERT INTO payout VALUES
       ('u1', '2026-07', 90071992547409.93, '11111111-1111-1111-1111-111111111111', 0),
       ('u1', '2026-07', 90071992547409.93, '22222222-2222-2222-2222-222222222222', 1),
       ('u2', '2026-07', 0.10, '11111111-1111-1111-1111-111111111111', 0),
       ('u2', '2026-07', 0.10, '22222222-2222-2222-2222-222222222222', 0),
       ('u2', '2026-07', 0.10, '22222222-2222-2222-2222-222222222222', 0),
       ('u2', '2026-08', 0.10, NULL, 0), (NULL, '2026-07', 5, NULL, 0), (NULL, '2026-07', 5, NULL, 0)`,
  );
  const { keys, summary } = await all(db, "payout", ["user_id", "period"], "amount");
  expect(summary).toMatchObject({ keys: 2, surplusRows: 3, surplus: "90071992547410.13", inexact: false });
  expect(keys.map(({ key, times, total, surplus }) => [...key, times, total, surplus])).toEqual([
    ["u1", "2026-07", 2, "180143985094819.86", "90071992547409.93"],
    ["u2", "2026-07", 3, "0.30", "0.20"],
  ]);
  expect(keys[0]!.writers).toEqual({
    execution_id: ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"],
    shard_no: ["0", "1"],
  });
});

test("amounts that differ are marked; the surplus is what is too much at least", async () => {
  const db = await database(
    "CREATE TABLE t (k integer, cents bigint)",
    "INSERT INTO t VALUES (1, 100), (1, 70), (2, -50), (2, -50), (3, 7), (3, NULL)",
  );
  const { keys } = await all(db, "t", ["k"], "cents");
  expect(keys.map(({ key, surplus, amountsDiffer }) => [key[0], surplus, amountsDiffer])).toEqual([
    ["1", "70", true],
    ["2", "-50", false],
    ["3", "0", true],
  ]);
});

test("what is no number is in no sum, and counted apart", async () => {
  const db = await database(
    "CREATE TABLE t (k integer, amount numeric, share double precision)",
    `INSERT INTO t VALUES (1, 'NaN', 'Infinity'), (1, 'NaN', '-Infinity'), (1, 2.50, 2.5), (1, 2.50, 2.5),
       (2, 7, 1e300), (2, 7, 1e300)`,
  );
  for (const amount of ["amount", "share"]) {
    const { keys, summary } = await all(db, "t", ["k"], amount);
    expect(summary.notFinite).toBe(2);
    expect(keys.find(({ key }) => key[0] === "1")).toMatchObject({
      surplus: "2.50".slice(0, amount === "amount" ? 4 : 3),
      amountsDiffer: true,
    });
    expect(summary.surplus).not.toContain("NaN");
  }
});

test("names that look like SQL are only names", async () => {
  const db = await database(
    'CREATE SCHEMA "Pay; DROP"',
    'CREATE TABLE "Pay; DROP"."a""b" ("k; DELETE FROM x" text, "sum(1)" numeric)',
    `INSERT INTO "Pay; DROP"."a""b" VALUES ('=cmd', 1), ('=cmd', 1)`,
  );
  const { keys } = await all(db, 'Pay; DROP.a"b', ["k; DELETE FROM x"], "sum(1)");
  expect(keys).toMatchObject([{ key: ["=cmd"], times: 2, surplus: "1" }]);
});

test("a table without duplicates, and floating-point amounts", async () => {
  const db = await database(
    "CREATE TABLE t (k integer, a double precision)",
    "INSERT INTO t VALUES (1, 0.5), (2, 0.5)",
  );
  const { keys, summary } = await all(db, "t", ["k"], "a");
  expect([keys, summary]).toEqual([
    [],
    { keys: 0, surplusRows: 0, surplus: "0", writerColumns: [], inexact: true, notFinite: 0 },
  ]);
});

test("more than a page is read to its end, and no further than wanted", async () => {
  const db = await database(
    "CREATE TABLE t (k integer, a integer)",
    "INSERT INTO t SELECT n % 2500, 1 FROM generate_series(1, 5000) n",
  );
  const { keys, summary } = await all(db, "t", ["k"], "a");
  expect([keys.length, new Set(keys.map(({ key }) => key[0])).size, summary.surplus]).toEqual([
    2500,
    2500,
    "2500",
  ]);
  let pages = 0;
  const first = await readDuplicates(db, { table: "t", key: ["k"], amount: "a" }, () => {
    pages += 1;
    return false;
  });
  expect([pages, first.keys]).toEqual([1, 2500]);
});

test.each([
  ["payuot", "k", "a", /--table.*payuot/],
  ["payout", "kk", "a", /--key/],
  ["payout", "k", "b", /--amount/],
  ["payout", "k", "k", /a column of numbers/],
])("what does not exist is named: %s %s %s", async (table, key, amount, message) => {
  const db = await database("CREATE TABLE payout (k text, a integer)");
  await expect(all(db, table, [key], amount)).rejects.toMatchObject({
    code: "E_BAD_VALUE",
    message: expect.stringMatching(message),
  });
});

test("a view that writes is stopped: the transaction only reads", async () => {
  const db = await database(
    "CREATE TABLE t (k integer, a integer)",
    "INSERT INTO t VALUES (1, 1), (1, 1)",
    "CREATE FUNCTION write() RETURNS integer LANGUAGE sql AS $$ INSERT INTO t VALUES (9, 9) RETURNING 1 $$",
    "CREATE VIEW v AS SELECT k, write() AS a FROM t",
  );
  await expect(all(db, "v", ["k"], "a")).rejects.toThrow(/read-only/);
});
