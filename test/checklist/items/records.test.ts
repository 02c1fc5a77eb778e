/** Items 13 and 14: what is kept, and how long jobs take on their worst day. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import type { ChecklistItem } from "../../../src/checklist/item.ts";
import { retention } from "../../../src/checklist/items/13-retention.ts";
import { peakDuration } from "../../../src/checklist/items/14-peak-duration.ts";
import { Database, type Queryable } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { fakeHost } from "../fake-host.ts";
import { contextOf, definitionsOf, fillStore, hourMs } from "../good-cluster.ts";

let fresh: FreshDatabase;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 3 });
  await fillStore(db);
});

afterAll(async () => {
  await db.end();
  await fresh.drop();
});

const context = (of: Queryable | string = db, change: Partial<CheckContext> = {}) =>
  contextOf(of, { definitions: definitionsOf("/nowhere"), ...change });

async function verdicts(item: ChecklistItem<CheckContext>, of: CheckContext) {
  return Object.fromEntries((await item.check(of)).map(({ scope, verdict }) => [scope.name, verdict]));
}

/** The first result with something changed in a transaction that is rolled back. */
async function changed(item: ChecklistItem<CheckContext>, sql: string, scope = "payments") {
  const undo = new Error("undo");
  let found: Awaited<ReturnType<typeof item.check>> = [];
  await db
    .transaction(async (tx) => {
      await tx.query(sql);
      found = await item.check(context(tx));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found.find((one) => one.scope.name === scope)!;
}

describe("item 13", () => {
  it("passes", async () => {
    const [found] = await retention.check(context());
    expect(found, found?.message).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/13 months are kept/),
    });
  });

  it("shows how old the archive is, and the restore", async () => {
    const older = "UPDATE escapement.backup_record SET at = at - interval '40 days' WHERE kind = 'restore'";
    const { verdict, evidence } = await changed(retention, older);
    expect(verdict).toBe("pass");
    const facts = evidence.flatMap(({ fact, ageMs }) => (fact ? [[fact, Math.round(ageMs! / hourMs)]] : []));
    expect(facts).toEqual([
      ["archive", 2],
      ["archiveRestore", 40 * 24 + 2],
    ]);
  });

  it.each([
    [
      "records go too soon",
      "UPDATE escapement.cluster SET retention_months = 6",
      /kept for 6 months, less than 13/,
    ],
    [
      "the file says something else",
      "UPDATE escapement.cluster SET retention_months = 24",
      /the cluster file says 13 months, the store keeps 24/,
    ],
    [
      "somebody pruned too much",
      "UPDATE escapement.cluster SET low_water = clock_timestamp() - interval '70 days'",
      /and should be there since/,
    ],
    [
      "nobody prunes",
      "SELECT escapement.ensure_partitions(clock_timestamp() - interval '20 months', clock_timestamp() - interval '18 months')",
      /3 month\(s\) are past retention.*last prune was never/,
    ],
    [
      "this month has no partition of shards",
      `DO $$ BEGIN EXECUTE 'DROP TABLE escapement.shard_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM'); END $$`,
      /no whole partition for/,
    ],
    [
      "a period is forgotten",
      "UPDATE escapement.execution SET period_key = fire_time::text WHERE fire_time = (SELECT min(fire_time) FROM escapement.execution)",
      /periods of 1 execution/,
    ],
    [
      "the guard forgets first",
      "CREATE SCHEMA escapement_guard; CREATE TABLE escapement_guard.meta AS SELECT current_date AS low_water; UPDATE escapement.cluster SET low_water = '2000-01-01'",
      /the guard has forgotten keys/,
    ],
    [
      "the disk is nearly full",
      "UPDATE escapement.store_disk SET free_bytes = 1e11",
      /93.1 GiB free, 10 %|free, 10 %/,
    ],
    [
      "the months to come do not fit",
      "UPDATE escapement.store_disk SET free_bytes = 1000, total_bytes = 2000",
      /of records are still to come/,
    ],
    [
      "the last archive is old",
      "UPDATE escapement.backup_record SET at = at - interval '10 days' WHERE kind = 'backup'",
      /the last archive is 10/,
    ],
    [
      "a restore was not counted",
      "UPDATE escapement.backup_record SET checked = NULL WHERE kind = 'restore'",
      /never tried and counted/,
    ],
    [
      "a restore went wrong",
      "UPDATE escapement.backup_record SET ok = false WHERE kind = 'restore'",
      /never tried and counted/,
    ],
  ])("fails when %s", async (_, sql, message) => {
    expect(await changed(retention, sql)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(message),
      todo: expect.any(String),
    });
  });

  it("is unknown when a month between others is not there, and when the disks of another host were reported", async () => {
    const gap = await changed(
      retention,
      `DO $$ DECLARE t text; BEGIN FOREACH t IN ARRAY ARRAY['shard', 'execution'] LOOP
         EXECUTE format('DROP TABLE escapement.%s_%s', t, to_char(now() AT TIME ZONE 'UTC' - interval '1 month', 'YYYY_MM')); END LOOP; END $$`,
    );
    expect(gap).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/^there are no records of \d{4}-\d\d, though there are older ones/),
    });
    const elsewhere = await retention.check(context(db, { hosts: [fakeHost("db-7", ["record-store"], {})] }));
    expect(elsewhere[0]).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/disks of db-1 were reported, and the store is on db-7/),
    });
  });

  it("is unknown while there is no record: nothing shows that one is kept", async () => {
    const none = "DELETE FROM escapement.execution; DELETE FROM escapement.shard";
    expect(await changed(retention, none)).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/there is no record yet/),
    });
  });

  it("is unknown when the disks were not reported lately, and without a store", async () => {
    const stale = await changed(retention, "UPDATE escapement.store_disk SET at = at - interval '1 hour'");
    expect(stale).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/nobody has reported/),
    });
    const other = await changed(
      retention,
      "INSERT INTO escapement.store_disk (host, path, total_bytes, free_bytes, at) VALUES ('db-1', '/wal', 1000, 1, clock_timestamp() - interval '1 hour')",
    );
    expect(other).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/db-1:\/wal was not reported lately/),
    });
    expect(await verdicts(retention, context("gone"))).toEqual({ payments: "unknown" });
  });
});

describe("item 14", () => {
  const lengthen = (name: string, ms: number) =>
    `UPDATE escapement.execution SET duration_ms = ${ms} WHERE (job_id, fire_time) = (SELECT job_id, max(fire_time)
     FROM escapement.execution JOIN escapement.job USING (job_id) WHERE name = '${name}' GROUP BY job_id)`;

  it("passes the nightly job; of the young one it says that no month end is on record", async () => {
    const found = await verdicts(peakDuration, context());
    expect(found).toMatchObject({ "pay/bonus": "pass", "pay/by-hand": "not-applicable" });
    const { rows } = await db.query<{ seen: boolean }>(
      `SELECT bool_or(extract(day FROM d) IN (1) OR extract(day FROM d + interval '1 day') = 1) AS seen
       FROM (SELECT fire_time AT TIME ZONE 'Europe/London' AS d FROM escapement.execution JOIN escapement.job USING (job_id) WHERE name = 'report') e`,
    );
    expect(found["pay/report"]).toBe(rows[0]!.seen ? "pass" : "unknown");
  });

  it("fails on one long day, whatever is usual; a rerun does not count", async () => {
    const long = await changed(peakDuration, lengthen("bonus", 25 * hourMs), "pay/bonus");
    expect(long).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/took 1d1h at .* longer than the 23h/),
    });
    const rerun = `${lengthen("bonus", 25 * hourMs)}; UPDATE escapement.execution SET run_no = 2 WHERE duration_ms = ${25 * hourMs}`;
    expect(await changed(peakDuration, rerun, "pay/bonus")).toMatchObject({ verdict: "pass" });
    const drill = `${lengthen("bonus", 25 * hourMs)}; UPDATE escapement.execution SET actual_end_time = actual_start_time + interval '25 hours' WHERE duration_ms = ${25 * hourMs};
      UPDATE escapement.drill_run d SET fault_at = e.actual_start_time + interval '1 minute', ended_at = e.actual_start_time + interval '9 minutes' FROM escapement.execution e WHERE e.duration_ms = ${25 * hourMs} AND d.class = 'network-cut'`;
    expect(await changed(peakDuration, drill, "pay/bonus")).toMatchObject({ verdict: "pass" });
    const near = await changed(peakDuration, lengthen("bonus", 20 * hourMs), "pay/bonus");
    expect(near).toMatchObject({ verdict: "pass", message: expect.stringMatching(/which is near/) });
  });

  it("is held against what the store fires, whatever the file says", async () => {
    const often = `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{schedule}', '{"kind":"every","everyMs":300000}')
      WHERE definition ->> 'name' = 'bonus'`;
    expect(await changed(peakDuration, often, "pay/bonus")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/longer than the 5m/),
    });
  });

  it("is unknown without a success, without a month end, without job files, without a store", async () => {
    const none = await changed(
      peakDuration,
      "UPDATE escapement.execution SET status = 'failed'",
      "pay/bonus",
    );
    expect(none).toMatchObject({ verdict: "unknown", message: expect.stringMatching(/no success/) });
    const young = await changed(
      peakDuration,
      "DELETE FROM escapement.execution WHERE extract(day FROM fire_time AT TIME ZONE 'Europe/London') NOT BETWEEN 10 AND 20",
      "pay/bonus",
    );
    expect(young).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/no month end is on record/),
    });
    expect(await verdicts(peakDuration, context(db, { definitions: definitionsOf("/nowhere", []) }))).toEqual(
      { payments: "unknown" },
    );
    expect(await verdicts(peakDuration, context("gone"))).toEqual({ payments: "unknown" });
  });
});
