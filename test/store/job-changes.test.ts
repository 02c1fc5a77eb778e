/** Editing, pausing, deleting and running by hand: nothing disappears, nothing is done twice, and each deed is on record. */
import { expect, test } from "vitest";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { applyJob, deleteJob, pauseJob, resumeJob } from "../../src/store/job-change.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { openDue } from "../../src/store/opening.ts";
import { digestOf, hashed, testJob } from "../support/job.ts";
import { until } from "../support/until.ts";
import { Bench, deed } from "./bench.ts";

const cron = (expression: string): Partial<JobDefinition> => ({
  schedule: { kind: "cron", cron: expression },
});
const eachSecond = cron("* * * * * *");
async function operations(bench: Bench): Promise<{ action: string; person: string; reason: string }[]> {
  const { rows } = await bench.db.query<{ action: string; person: string; reason: string }>(
    "SELECT action, person, reason FROM escapement.operation ORDER BY operation_id",
  );
  return rows;
}

test("applying is idempotent, also for many at once", async () => {
  const bench = await Bench.open();
  const definition = testJob("same", eachSecond);
  const apply = () => applyJob(bench.db, definition, digestOf(definition), deed);
  expect(await apply()).toMatchObject({ outcome: "created", version: 1 });
  const again = await Promise.all([apply(), apply(), apply()]);
  expect(again.map((one) => one.outcome)).toEqual(["unchanged", "unchanged", "unchanged"]);
  expect(await operations(bench)).toHaveLength(1);
});

test("an edit takes back what was planned and leaves what is due; the cursor is where the taking back began", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("edited", hashed(2)));
  const due = await bench.at(-1_000);
  const future = [await bench.at(60_000), await bench.at(61_000)];
  await bench.plan(job, [due, ...future]);
  const change = testJob("edited", { ...hashed(2), command: ["false"] });
  const applied = await applyJob(bench.db, change, digestOf(change), {
    person: "ann",
    reason: "new command",
  });
  expect(applied).toMatchObject({ outcome: "changed", version: 2, revoked: 2 });
  expect(await bench.statuses(job)).toEqual(["planned"]);
  const { rows } = await bench.db.query(
    "SELECT status, reason, revoked_at IS NOT NULL AS revoked FROM escapement.execution WHERE fire_time = $1",
    [future[0]],
  );
  expect(rows).toEqual([{ status: "cancelled", reason: "the definition was changed by ann", revoked: true }]);
  expect(await bench.shards(job, future[0]!)).toEqual([]);
  const after = await bench.job("edited");
  expect(after.plannedUntil.getTime()).toBeLessThan(future[0]!.getTime());
  // The same instant is planned anew, by the new definition; what was due stays with the old one.
  expect(await bench.plan(after, future)).toBe(2);
  expect(await bench.execution(job, future[0]!)).toMatchObject({
    jobVersion: 2,
    status: "planned",
    reason: null,
  });
  expect(await bench.execution(job, due)).toMatchObject({ jobVersion: 1 });
  expect((await operations(bench)).at(-1)).toEqual({
    action: "jobs apply",
    person: "ann",
    reason: "new command",
  });
});

test("a fire that passes while an edit waits for a lock is neither taken back nor lost", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("slow-edit", eachSecond));
  const now = (await bench.now()).getTime();
  const fires = Array.from(
    { length: 20 },
    (_, i) => new Date(Math.ceil(now / 1_000) * 1_000 + (i - 2) * 1_000),
  );
  await bench.plan(job, fires);
  const change = testJob("slow-edit", { ...eachSecond, command: ["false"] });
  let edit: Promise<unknown> | undefined;
  await bench.db.transaction(async (tx) => {
    // Holds one of the rows that the edit must delete, for longer than a fire's distance.
    await tx.query("SELECT 1 FROM escapement.execution_live WHERE fire_time = $1 FOR UPDATE", [fires.at(-1)]);
    edit = applyJob(bench.db, change, digestOf(change), deed);
    await tx.query("SELECT pg_sleep(2.5)");
  });
  await edit;
  const after = await bench.job("slow-edit");
  const lost = await bench.value(
    `SELECT count(*)::int FROM escapement.execution WHERE revoked_at IS NOT NULL AND fire_time <= $1`,
    [after.plannedUntil],
  );
  expect(lost).toBe(0);
  const doubly = await bench.value(
    `SELECT count(*)::int FROM escapement.execution WHERE revoked_at IS NULL AND fire_time > $1`,
    [after.plannedUntil],
  );
  expect(doubly).toBe(0);
});

test("the shard count cannot change under live executions, but can when only plans exist", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("cut", hashed(2)));
  await bench.plan(job, [await bench.at(600_000)]);
  expect((await bench.apply(testJob("cut", hashed(3)))).version).toBe(2);
  const fireTime = await bench.at(-1_000);
  await runManually(bench.db, await bench.job("cut"), { ...deed, fireTime });
  await expect(bench.apply(testJob("cut", hashed(4)))).rejects.toMatchObject({ code: "E_REFUSED" });
  const executor = await bench.executor();
  await openDue(bench.db);
  await expect(bench.apply(testJob("cut", hashed(4)))).rejects.toMatchObject({ code: "E_REFUSED" });
  await bench.work(executor);
  expect((await bench.apply(testJob("cut", hashed(4)))).version).toBe(3);
});

test("pause and resume: every fire of the pause is on record, those planned before it, too", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("paused", eachSecond));
  const start = (await bench.job("paused")).plannedUntil.getTime();
  const planned = jobSchedule(job.definition)!.between(start, start + 10_000);
  await bench.plan(
    job,
    planned.map((ms) => new Date(ms)),
  );
  const paused = await pauseJob(bench.db, job, deed);
  expect(paused.changed).toBe(true);
  expect((await pauseJob(bench.db, job, deed)).changed).toBe(false);
  const cursor = (await bench.job("paused")).plannedUntil.getTime();
  await until(async () => (await bench.now()).getTime() > cursor + 3_000, { what: "three seconds of pause" });
  const { skipped } = await resumeJob(bench.db, job, deed);
  const after = (await bench.job("paused")).plannedUntil.getTime();
  const expected = jobSchedule(job.definition)!.between(start, after);
  expect(skipped).toBe(jobSchedule(job.definition)!.between(cursor, after).length);
  const { rows } = await bench.db.query<{ fire: Date; status: string; reason: string | null }>(
    "SELECT fire_time AS fire, status, reason FROM escapement.execution WHERE revoked_at IS NULL ORDER BY fire_time",
  );
  expect(rows.map((row) => row.fire.getTime())).toEqual(expected);
  expect(rows.filter((row) => row.fire.getTime() > cursor).map((row) => row.reason)).toEqual(
    Array.from({ length: skipped }, () => "the job was paused"),
  );
  expect((await operations(bench)).map((one) => one.action)).toEqual([
    "jobs apply",
    "jobs pause",
    "jobs resume",
  ]);
});

test("delete takes back the future and refuses deeds; applying again revives it from now on", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("gone", eachSecond));
  await bench.plan(job, [await bench.at(60_000)]);
  expect(await deleteJob(bench.db, job, deed)).toEqual({ changed: true, revoked: 1 });
  await expect(runManually(bench.db, job, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  await expect(resumeJob(bench.db, job, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  const definition = testJob("gone", eachSecond);
  const before = await bench.now();
  const revived = await applyJob(bench.db, definition, digestOf(definition), deed);
  expect(revived).toMatchObject({ outcome: "revived", jobId: job.jobId, version: 2 });
  expect((await bench.job("gone")).plannedUntil.getTime()).toBeGreaterThanOrEqual(before.getTime());
});

test("what ran by hand at a taken-back instant is not fired by the schedule again", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("hand", eachSecond));
  const soon = await bench.at(2_000);
  await bench.plan(job, [soon]);
  await pauseJob(bench.db, job, deed);
  await until(async () => (await bench.now()) > soon, { what: "the instant" });
  await runManually(bench.db, job, { ...deed, fireTime: soon });
  const executor = await bench.executor();
  await bench.work(executor);
  await resumeJob(bench.db, job, deed);
  expect(await bench.execution(job, soon)).toMatchObject({
    status: "success",
    triggerType: "manual",
    runNo: 1,
  });
  await expect(runManually(bench.db, job, { ...deed, fireTime: soon })).rejects.toMatchObject({
    code: "E_REFUSED",
  });
});

test.each(["paused", "deleted"] as const)(
  "fires that came due while nobody planned are on record when the job is %s",
  async (change) => {
    const bench = await Bench.open();
    const job = await bench.apply(testJob("behind", eachSecond));
    await bench.db.query(
      "UPDATE escapement.job SET planned_until = planned_until - interval '5 seconds' WHERE job_id = $1",
      [job.jobId],
    );
    const before = await bench.job("behind");
    await (change === "paused" ? pauseJob : deleteJob)(bench.db, before, deed);
    const statuses = await bench.statuses(job);
    expect(statuses.length).toBeGreaterThanOrEqual(5);
    expect(new Set(statuses)).toEqual(new Set(["missed"]));
    expect(await bench.value("SELECT count(*) FROM escapement.alert_outbox WHERE kind = 'missed'")).toBe(1);
    const after = await bench.value<Date>("SELECT planned_until FROM escapement.job WHERE job_id = $1", [
      job.jobId,
    ]);
    expect(after.getTime() - before.plannedUntil.getTime()).toBeGreaterThanOrEqual(5_000);
  },
);
