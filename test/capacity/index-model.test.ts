/** The b-tree model beside a real b-tree, for the orders in which keys arrive. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BtreeSimulation } from "../../src/capacity/storage/btree-simulation.ts";
import { HeapSimulation } from "../../src/capacity/storage/heap-simulation.ts";
import { WalMeter } from "../../src/capacity/storage/wal-meter.ts";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: false });
  db = new Database(fresh.url, { maxConnections: 1, queryTimeoutMs: 120_000 });
});
afterAll(async () => {
  await db?.end();
  await fresh?.drop();
});

const rows = 50_000;
/** Keys of a job follow each other, jobs take turns. */
const inTurns = Array.from({ length: rows }, (_, i) => ({ job: i % 50, number: Math.floor(i / 50) }));
const ascending = Array.from({ length: rows }, (_, i) => ({ job: 0, number: i }));
const scattered = Array.from({ length: rows }, (_, i) => ({
  job: 0,
  number: Number((BigInt(i + 1) * 48_271n * BigInt((i % 1_000) + 1)) % 2_147_483_647n),
}));

test.each([
  ["ascending, one bigint", "number bigint, PRIMARY KEY (number)", 16, 1, ascending],
  [
    "ascending, integer and bigint",
    "job integer, number bigint, PRIMARY KEY (job, number)",
    24,
    2,
    ascending,
  ],
  [
    "jobs take turns, integer and bigint",
    "job integer, number bigint, PRIMARY KEY (job, number)",
    24,
    2,
    inTurns,
  ],
  [
    "jobs take turns, one integer more",
    "job integer, number bigint, n integer, PRIMARY KEY (job, number, n)",
    32,
    3,
    inTurns,
  ],
  ["scattered, one bigint", "number bigint, PRIMARY KEY (number)", 16, 1, scattered],
])("%s: within 1 %", { timeout: 120_000 }, async (_, columns, tupleBytes, keyColumns, keys) => {
  const table = `t${tupleBytes}_${keyColumns}`;
  await db.query(`DROP TABLE IF EXISTS ${table}`);
  await db.query(`CREATE TABLE ${table} (filler integer, ${columns})`);
  const names = columns
    .split(", PRIMARY")[0]!
    .split(", ")
    .map((column) => column.split(" ")[0]!);
  const source: Record<string, string> = { job: "k.job", number: "k.number", n: "1" };
  await db.query(
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.map((name) => source[name]).join(", ")}
     FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS k(job, number, place) ORDER BY k.place ON CONFLICT DO NOTHING`,
    [keys.map(({ job }) => job), keys.map(({ number }) => number)],
  );
  const { rows: sizes } = await db.query<{ pages: number; rows: number }>(
    `SELECT pg_relation_size('${table}_pkey') / 8192 AS pages, (SELECT count(*) FROM ${table}) AS rows`,
  );

  const wal = new WalMeter();
  const heap = new HeapSimulation(wal, 100);
  const step = 2 ** 32;
  const index = new BtreeSimulation(wal, heap, {
    tupleBytes,
    boundBytes: (count) =>
      count > keyColumns ? tupleBytes + 8 : count === 1 && keyColumns > 1 ? 16 : tupleBytes,
    keyColumns,
    isUnique: true,
    fillFactor: 90,
    columnsToTell: (a, b) =>
      Math.floor(a / step) !== Math.floor(b / step) ? 1 : a === b ? keyColumns + 1 : Math.min(2, keyColumns),
  });
  // Header with a null bitmap, then the key columns, which are aligned as in the index.
  const rowBytes = 24 + (tupleBytes === 32 ? 20 : tupleBytes - 8);
  const seen = new Set<number>();
  for (const { job, number } of keys) {
    const key = job * step + number;
    if (seen.has(key)) continue;
    seen.add(key);
    index.insert(key, heap.insert(rowBytes), false);
  }
  expect(seen.size).toBe(sizes[0]!.rows);
  expect(Math.abs(index.pages / sizes[0]!.pages - 1)).toBeLessThanOrEqual(0.01);
});
