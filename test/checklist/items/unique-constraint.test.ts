import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uniqueConstraint } from "../../../src/checklist/items/01-unique-constraint.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { contextOf } from "../good-cluster.ts";

let fresh: FreshDatabase;
let db: Database;

beforeEach(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 2 });
  await db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp(), clock_timestamp() + interval '1 month')",
  );
});

afterEach(async () => {
  await db.end();
  await fresh.drop();
});

async function verdict() {
  const [only, ...more] = await uniqueConstraint.check(contextOf(db));
  expect(more).toEqual([]);
  return only!;
}

const month = new Date().toISOString().slice(0, 7).replace("-", "_");

describe("item 1", () => {
  it("passes on a store as the migrations make it, and leaves nothing behind", async () => {
    const found = await verdict();
    expect(found).toMatchObject({ verdict: "pass", scope: { kind: "cluster" } });
    expect(found.evidence.map(({ kind }) => kind)).toEqual(["query", "query"]);
    expect(found.evidence[1]!.output).toContain(`shard_${month}`);
    const { rows } = await db.query(
      `SELECT (SELECT count(*) FROM escapement.execution) + (SELECT count(*) FROM escapement.shard)
         + (SELECT count(*) FROM escapement.execution_live) + (SELECT count(*) FROM escapement.job_period) AS count`,
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  const faults: [string, string, RegExp][] = [
    [
      "the constraint of shards is gone",
      "ALTER TABLE escapement.shard DROP CONSTRAINT shard_pkey",
      /shard has no unique index on \(job_id, fire_time, shard_no\).*a duplicate was accepted by shard_/,
    ],
    [
      "an index without UNIQUE stands in its place",
      `ALTER TABLE escapement.shard DROP CONSTRAINT shard_pkey;
       CREATE INDEX ON escapement.shard (job_id, fire_time, shard_no)`,
      /is not unique/,
    ],
    [
      "it is on the attempt instead",
      `ALTER TABLE escapement.shard DROP CONSTRAINT shard_pkey;
       CREATE UNIQUE INDEX ON escapement.shard (job_id, fire_time, shard_no, attempt)`,
      /no unique index on \(job_id, fire_time, shard_no\)/,
    ],
    [
      "the index of one partition is not valid",
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'escapement.execution_${month}_pkey'::regclass`,
      new RegExp(`execution_${month}: .* not valid`),
    ],
    [
      "it leaves rows out",
      `ALTER TABLE escapement.execution_live DROP CONSTRAINT execution_live_pkey;
       CREATE UNIQUE INDEX ON escapement.execution_live (job_id, fire_time) WHERE state = 'planned'`,
      /execution_live: .* partial.*accepted by execution_live/,
    ],
    [
      "it is only looked at when the transaction ends",
      `ALTER TABLE escapement.job_period DROP CONSTRAINT job_period_pkey;
       ALTER TABLE escapement.job_period ADD UNIQUE (job_id, period_key) DEFERRABLE INITIALLY DEFERRED`,
      /job_period: .* deferrable.*accepted by job_period/,
    ],
    [
      "two jobs may have one name",
      "ALTER TABLE escapement.job DROP CONSTRAINT job_namespace_name_key",
      /job has no unique index on \(namespace, name\)/,
    ],
    [
      "there is no partition to write to",
      `DROP TABLE escapement.execution_${month}; SELECT escapement.prune(now());
       DO $$ DECLARE r record; BEGIN FOR r IN SELECT inhrelid::regclass AS t FROM pg_inherits
         WHERE inhparent = 'escapement.execution'::regclass AND (SELECT relkind FROM pg_class WHERE oid = inhrelid) = 'r'
         LOOP EXECUTE 'DROP TABLE ' || r.t; END LOOP; END $$`,
      /execution has no partition/,
    ],
  ];
  it.each(faults)("fails when %s", async (_, sql, message) => {
    await db.query(sql);
    const found = await verdict();
    expect(found.message).toMatch(message);
    expect(found).toMatchObject({ verdict: "fail", todo: expect.any(String) });
  });

  it("is unknown when the login may not try, and when there is no store", async () => {
    await db.query("DROP ROLE IF EXISTS checklist_onlooker");
    await db.query("CREATE ROLE checklist_onlooker LOGIN IN ROLE escapement_reader");
    const url = new URL(fresh.url);
    url.username = "checklist_onlooker";
    const onlooker = new Database(url.href, { maxConnections: 1 });
    try {
      const found = await uniqueConstraint.check(contextOf(onlooker));
      expect(found).toMatchObject([
        { verdict: "unknown", message: expect.stringMatching(/permission denied/) },
      ]);
      // What could be looked at is there all the same.
      expect(found[0]!.evidence).toHaveLength(1);
    } finally {
      await onlooker.end();
      await db.query("DROP OWNED BY checklist_onlooker; DROP ROLE checklist_onlooker");
    }
    const blind = await uniqueConstraint.check(contextOf("no route to host"));
    expect(blind).toMatchObject([{ verdict: "unknown", message: expect.stringMatching(/no route to host/) }]);
  });
});
