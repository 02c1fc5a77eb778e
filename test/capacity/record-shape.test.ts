/** The storage model's picture of the record store is the record store's own. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordRows, shardTupleBytes } from "../../src/capacity/storage/record-rows.ts";
import { recordShapes } from "../../src/capacity/storage/record-shape.ts";
import { heapTupleBytes } from "../../src/capacity/storage/tuple.ts";
import { readShapes } from "../../src/cli/capacity/verify/read-shapes.ts";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 1 });
});
afterAll(async () => {
  await db?.end();
  await fresh?.drop();
});

test("columns, alignments, indexes and fill factors agree with the system catalogue", async () => {
  const inOrder = (shapes: typeof recordShapes) =>
    Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [
        name,
        { ...shape, indexes: [...shape.indexes].sort((a, b) => (a.name < b.name ? -1 : 1)) },
      ]),
    );
  expect(inOrder(await readShapes(db))).toEqual(inOrder(recordShapes));
});

test("row lengths agree with what PostgreSQL stores", async () => {
  await db.query("SELECT escapement.ensure_partitions('2026-01-01Z', '2026-01-01Z')");
  for (const length of [0, 1, 126, 127, 900]) {
    await db.query("DELETE FROM escapement.shard");
    await db.query(
      `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, owner, fence_token, start_time, end_time, rows, error)
       VALUES (1, '2026-01-02Z', 0, 'success', 1, gen_random_uuid(), 1, now(), now(), 1, $1)`,
      [length === 0 ? null : "x".repeat(length)],
    );
    const { rows } = await db.query<{ bytes: number }>(
      "SELECT pg_column_size(s.*) AS bytes FROM escapement.shard_2026_01 s",
    );
    // pg_column_size counts a whole row as a value of its own: the same header, the same columns.
    expect(shardTupleBytes(recordShapes.shard, length)).toBe(rows[0]!.bytes);
  }
  const planned = recordRows({ shardText: 0, attemptText: 0, jobName: 8, digest: 64 }).execution.planned;
  await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, epoch)
     VALUES (1, '2026-01-02Z', 'schedule', 'planned', 1, repeat('0', 64), 1, now(), 1)`,
  );
  const { rows } = await db.query<{ bytes: number }>(
    "SELECT pg_column_size(e.*) AS bytes FROM escapement.execution_2026_01 e",
  );
  expect(heapTupleBytes(recordShapes.execution, planned)).toBe(rows[0]!.bytes);
});
