/** The role of drills: its own jobs, its run, the halt, and nothing of anybody else. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { installProbes, removeProbes, stopProbes } from "../../src/chaos/drill/probe-load.ts";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import { digest } from "../../src/spec/digest.ts";
import { sqlState } from "../../src/store/database.ts";
import { haltDrills, liftDrillHalt } from "../../src/store/drill/drill-halt.ts";
import { staleWritesSince } from "../../src/store/drill/drill-records.ts";
import {
  beginDrillRun,
  endDrillRun,
  renewDrillRun,
  requestDrillAbort,
  setDrillState,
} from "../../src/store/drill/drill-run.ts";
import { sampleCluster } from "../../src/store/drill/drill-sample.ts";
import { applyProbe, cancelDeletedProbes, endProbe } from "../../src/store/drill/probe-job.ts";
import { listJobs } from "../../src/store/job.ts";
import { checkSchema } from "../../src/store/migrate.ts";
import { openDue } from "../../src/store/opening.ts";
import { readServerHealth } from "../../src/store/watch/health.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

const denied = "42501";
const leaseMs = 15_000;
/** As a drill makes them. */
const probe = (nth: number, shards: number) => ({
  ...testJob(`probe-${nth}`, {
    schedule: { kind: "every", everyMs: 5_000 },
    ...(shards > 1 && hashed(shards)),
  }),
  namespace: "drill",
});

test("the role of drills can do all that a drill does to the records: its own jobs, its run, the halt", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("drill");
  await checkSchema(db);
  const jobs = [probe(1, 4), probe(2, 1)];
  await installProbes(db, jobs, deed, leaseMs);
  await installProbes(db, jobs, deed, leaseMs);
  expect((await applyProbe(db, jobs[0]!, digest(jobs[0]!), deed)) satisfies string).toBe("unchanged");
  const job = await owner.value<number>("SELECT job_id FROM escapement.job WHERE name = 'probe-1'");
  // As if the leader had been away for a minute.
  await owner.db.query(
    "UPDATE escapement.job SET planned_until = planned_until - interval '1 minute' WHERE name = 'probe-1'",
  );
  await stopProbes(db, deed);
  const expected = (await owner.value<Date>("SELECT planned_until FROM escapement.job WHERE job_id = $1", [
    job,
  ])) as Date;
  const fires = await owner.db.query<{ at: Date; shards: number }>(
    "SELECT fire_time AS at, shard_count AS shards FROM escapement.execution WHERE job_id = $1 AND status = 'missed' ORDER BY 1",
    [job],
  );
  const known = jobSchedule(jobs[0]!)!.between(expected.getTime() - 70_000, expected.getTime());
  const entered = fires.rows.map(({ at }) => at.getTime());
  expect(entered.length).toBeGreaterThanOrEqual(12);
  expect(entered).toEqual(known.slice(-entered.length));
  expect(fires.rows.every(({ shards }) => shards === 4)).toBe(true);
  expect(await removeProbes(db, deed)).toBe(2);
  expect(await listJobs(db)).toEqual([]);
  const run = {
    ...{ runId: randomUUID(), drill: "d", class: "c", digest: "x", person: "p", version: "0" },
    ...{ trigger: "manual" as const, controller: "me", targets: [] },
  };
  await beginDrillRun(db, run, 10_000);
  await renewDrillRun(db, run.runId, "me", 10_000);
  await requestDrillAbort(db, "test");
  await setDrillState(db, run.runId, "me", "settling");
  await endDrillRun(db, run.runId, "me", { verdict: "unknown", reason: "test", summary: {} });
  expect(await haltDrills(db, deed)).toBe(true);
  expect(await liftDrillHalt(db, deed)).toBe(true);
  await sampleCluster(db);
  // Who follows the server: a drill does not go blind for want of a right.
  expect((await readServerHealth(db)).replicas).toEqual([]);
});

test("the functions of drills take no job of anybody else, and a busy one says so", async () => {
  const owner = await Bench.open();
  const there = await owner.apply(testJob("there"));
  const { db } = await owner.as("drill");
  const tries = [
    { ...probe(1, 1), namespace: "test" },
    { ...probe(1, 1), schedule: { kind: "cron", cron: "* * * * *" } as const },
    { ...probe(1, 1), period: { unit: "day", offset: 0 } as const },
  ];
  for (const one of tries)
    expect(await applyProbe(db, one, digest(one), deed).catch(sqlState), JSON.stringify(one)).toBe(denied);
  expect(await endProbe(db, there.name, "deleted", deed)).toBe(false);
  expect((await owner.job("there")).state).toBe("active");
  await installProbes(db, [probe(1, 4)], deed, leaseMs);
  await owner.plan(await owner.job("drill/probe-1"), [await owner.at(-1_000)]);
  expect(await applyProbe(db, probe(1, 2), digest(probe(1, 2)), deed)).toBe("busy");
});

test("what a deleted probe has alive is cancelled: what waits at once, what runs by its executor", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("drill");
  await installProbes(db, [probe(1, 4), probe(2, 1)], deed, leaseMs);
  const [wide, narrow] = [await owner.job("drill/probe-1"), await owner.job("drill/probe-2")];
  const [first, second] = [await owner.at(-2_000), await owner.at(-1_000)];
  await owner.plan(wide, [first]);
  await owner.plan(narrow, [first]);
  await openDue(owner.db);
  // Due, but not opened.
  await owner.plan(narrow, [second]);
  const executor = await owner.executor();
  const claims = await owner.claim(executor, { limit: 2 });
  expect(claims).toHaveLength(2);
  expect(await removeProbes(db, deed)).toBe(2);
  expect(await applyProbe(db, probe(1, 2), digest(probe(1, 2)), deed)).toBe("busy");
  expect(await owner.complete(executor, claims, "cancelled")).toEqual([true, true]);
  for (const job of [wide, narrow]) expect(await owner.live(job), job.name).toEqual([]);
  const { rows } = await owner.db.query<{ status: string; reason: string }>(
    "SELECT DISTINCT status, reason FROM escapement.execution WHERE revoked_at IS NULL",
  );
  expect(rows).toEqual([{ status: "cancelled", reason: `cancelled by ${deed.person}: ${deed.reason}` }]);
  const deeds = "SELECT count(*)::integer FROM escapement.operation WHERE action = 'cancel'";
  expect(await owner.value(deeds)).toBe(3);
  expect(await applyProbe(db, probe(1, 2), digest(probe(1, 2)), deed)).toBe("revived");
});

test("while an attempt of an earlier drill lives no other begins: it would speak to the new witness", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("drill");
  const jobs = [probe(1, 1)];
  await installProbes(db, jobs, deed, leaseMs);
  await owner.plan(await owner.job("drill/probe-1"), [await owner.at(-1_000)]);
  await openDue(owner.db);
  const executor = await owner.executor();
  const claims = await owner.claim(executor);
  expect(claims).toHaveLength(1);
  // No time to wait in; of the same shape, it would not be busy.
  await expect(installProbes(db, jobs, deed, -600_000)).rejects.toMatchObject({ code: "E_REFUSED" });
  expect(await listJobs(db)).toEqual([]);
  await owner.complete(executor, claims, "cancelled");
  await installProbes(db, jobs, deed, leaseMs);
  expect((await owner.job("drill/probe-1")).state).toBe("active");
});

test("stale writes of an earlier drill are none of this one's", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("drill");
  const [jobId, since] = [7, await owner.at(-60_000)];
  for (const fire of [-90_000, -30_000])
    await owner.db.query(
      `INSERT INTO escapement.stale_write (job_id, fire_time, shard_no, owner, fence_token, what)
       VALUES ($1, $2, 0, gen_random_uuid(), 1, 'success')`,
      [jobId, await owner.at(fire)],
    );
  expect(await staleWritesSince(db, [jobId], since)).toBe(1);
});

test("a probe that nobody deleted is not cancelled, nor is a job of anybody else", async () => {
  const owner = await Bench.open();
  const there = await owner.apply(testJob("there"));
  const { db } = await owner.as("drill");
  await installProbes(db, [probe(1, 1)], deed, leaseMs);
  const job = await owner.job("drill/probe-1");
  const fire = await owner.at(-1_000);
  for (const one of [there, job]) await owner.plan(one, [fire]);
  await openDue(owner.db);
  expect(await cancelDeletedProbes(db, deed)).toBe(0);
  for (const { jobId } of [there, job]) {
    const tried = db.query("SELECT escapement.drill_job_cancel($1, $2, 'p', 'r')", [jobId, fire]);
    expect(await tried.catch(sqlState)).toBe(denied);
  }
  for (const one of [there, job]) expect(await owner.live(one)).toEqual(["open"]);
});
