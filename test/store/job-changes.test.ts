/** Editing, pausing, deleting and running by hand: nothing disappears, nothing is done twice, and each deed is on record. */
import { expect, test } from "vitest";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { JobRow } from "../../src/store/job.ts";
import { applyJob, deleteJob, pauseJob, resumeJob } from "../../src/store/job-change.ts";
import { backfill } from "../../src/store/manual-backfill.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { rerun } from "../../src/store/manual-rerun.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { openDue } from "../../src/store/opening.ts";
import { prune } from "../../src/store/retention.ts";
import { digestOf, hashed, testJob } from "../support/job.ts";
import { until } from "../support/until.ts";
import { Bench, deed } from "./bench.ts";

const cron = (expression: string): Partial<JobDefinition> => ({
  schedule: { kind: "cron", cron: expression },
});
const eachSecond = cron("* * * * * *");
const day = 86_400_000;

/** Moves the whole life of a job into the past: it was known, and planned until, so many milliseconds ago. */
async function bornBefore(bench: Bench, job: JobRow, ms: number): Promise<JobRow> {
  const born = await bench.at(-ms);
  await bench.db.query("UPDATE escapement.job SET known_since = $2, planned_until = $2 WHERE job_id = $1", [
    job.jobId,
    born,
  ]);
  await bench.db.query("UPDATE escapement.job_version SET effective_from = $2 WHERE job_id = $1", [
    job.jobId,
    born,
  ]);
  return bench.job(job.name);
}

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

test("run, rerun and backfill refuse the future and what the records have forgotten", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("limits", cron("0 0 * * *")));
  const future = await bench.at(3_600_000);
  await expect(runManually(bench.db, job, { ...deed, fireTime: future })).rejects.toMatchObject({
    code: "E_REFUSED",
  });
  const interval = { from: await bench.at(-3_600_000), to: future };
  await expect(backfill(bench.db, job, interval, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  await bench.db.query("UPDATE escapement.cluster SET low_water = clock_timestamp() - interval '1 day'");
  const old = await bench.at(-2 * day);
  await expect(runManually(bench.db, job, { ...deed, fireTime: old })).rejects.toThrow(/oldest retained/);
  await expect(rerun(bench.db, job, old, {}, deed)).rejects.toThrow(/oldest retained/);
  await expect(backfill(bench.db, job, { from: old, to: await bench.at(0) }, deed)).rejects.toThrow(
    /oldest retained/,
  );
  expect(await operations(bench)).toHaveLength(1);
});

test("backfill: what never ran, oldest first, each after the success of the one before; the rest is left alone", async () => {
  const bench = await Bench.open();
  const job = await bornBefore(
    bench,
    await bench.apply(testJob("fill", { ...cron("0 * * * *"), ...hashed(1) })),
    day,
  );
  const hour = 3_600_000;
  const top = Math.floor((await bench.now()).getTime() / hour) * hour;
  const fires = [5, 4, 3, 2, 1].map((ago) => new Date(top - ago * hour));
  const executor = await bench.executor();
  await runManually(bench.db, job, { ...deed, fireTime: fires[1]! });
  await bench.work(executor);
  await runManually(bench.db, job, { ...deed, fireTime: fires[3]! });
  await bench.work(executor, "failed");
  const interval = { from: fires[0]!, to: fires[4]! };
  const dry = await backfill(bench.db, job, interval, { ...deed, dryRun: true });
  expect(dry.map((item) => item.action)).toEqual(["run", "success", "run", "failed", "run"]);
  expect(await bench.statuses(job)).toEqual(["success", "failed"]);
  expect(await backfill(bench.db, job, interval, deed)).toEqual(dry);
  expect((await backfill(bench.db, job, interval, deed)).map((item) => item.action)).toEqual([
    "planned",
    "success",
    "planned",
    "failed",
    "planned",
  ]);
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "held", "held"]);
  expect(await bench.work(executor)).toEqual([fires[0]]);
  expect(await bench.work(executor, "failed")).toEqual([fires[2]]);
  expect(await bench.statuses(job)).toEqual(["success", "success", "failed", "failed", "missed"]);
  expect((await operations(bench)).filter((one) => one.action === "backfill")).toHaveLength(2);
});

test("backfill goes by the definition that was in force at the time", async () => {
  const bench = await Bench.open();
  const first = await bench.apply(testJob("rules", cron("0 0 * * * *")));
  await bornBefore(bench, first, 10 * 3_600_000);
  await bench.apply(testJob("rules", cron("0 0,30 * * * *")));
  const hour = 3_600_000;
  const top = Math.floor((await bench.now()).getTime() / hour) * hour;
  await bench.db.query("UPDATE escapement.job_version SET effective_from = $1 WHERE version = 2", [
    new Date(top - 3 * hour),
  ]);
  const job = await bench.job("rules");
  const items = await backfill(
    bench.db,
    job,
    { from: new Date(top - 5 * hour), to: new Date(top - 2 * hour) },
    { ...deed, dryRun: true },
  );
  expect(items.map((item) => (item.fireTime.getTime() - top) / hour)).toEqual([-5, -4, -3, -2.5, -2]);
});

test("an interval with too many fires is refused before anything is written", async () => {
  const bench = await Bench.open();
  const job = await bornBefore(bench, await bench.apply(testJob("many", eachSecond)), day);
  const interval = { from: await bench.at(-7_200_000), to: await bench.at(-1_000) };
  await expect(backfill(bench.db, job, interval, deed)).rejects.toThrow(/more than 5000/);
  expect(await bench.statuses(job)).toEqual([]);
});

test("a period of the backfilled interval that was done is an error, and nothing of the backfill stays", async () => {
  const bench = await Bench.open();
  const period = { period: { unit: "month", offset: 0 } } as const;
  const job = await bornBefore(
    bench,
    await bench.apply(testJob("paid", { ...cron("0 * * * *"), ...period })),
    day,
  );
  const fire = new Date(Math.floor((await bench.now()).getTime() / 3_600_000) * 3_600_000);
  const key = fire.toISOString().slice(0, 7);
  await runManually(bench.db, job, { ...deed, period: key });
  await expect(backfill(bench.db, job, { from: fire, to: fire }, deed)).rejects.toMatchObject({
    code: "E_REFUSED",
  });
  expect(await bench.statuses(job)).toEqual(["planned"]);
});

test("pruning drops whole months, keeps one with an unfinished execution, and raises the low-water mark", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("old", hashed(2)));
  await bench.db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp() - interval '8 months', clock_timestamp())",
  );
  const month = async (ago: number) =>
    bench.value<Date>(
      "SELECT (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - make_interval(months => $1)) AT TIME ZONE 'UTC'",
      [ago],
    );
  const fires = [await month(6), await month(4)];
  for (const fireTime of fires) await runManually(bench.db, job, { ...deed, fireTime });
  const executor = await bench.executor();
  await openDue(bench.db);
  const claims = await bench.claim(executor);
  await bench.complete(
    executor,
    claims.filter((claim) => claim.fireTime.getTime() === fires[0]!.getTime()),
  );
  const dropped = await prune(bench.db, await month(2), deed);
  expect(dropped.length).toBeGreaterThan(0);
  expect(await bench.execution(job, fires[0]!)).toBeNull();
  expect(await bench.execution(job, fires[1]!)).toMatchObject({ status: "running" });
  expect(await bench.value("SELECT low_water FROM escapement.cluster")).toEqual(await month(4));
  await expect(runManually(bench.db, job, { ...deed, fireTime: fires[0]! })).rejects.toThrow(
    /oldest retained/,
  );
  await bench.complete(
    executor,
    claims.filter((claim) => claim.fireTime.getTime() !== fires[0]!.getTime()),
  );
  await prune(bench.db, await month(2), deed);
  expect(await bench.execution(job, fires[1]!)).toBeNull();
  expect(await bench.value("SELECT low_water FROM escapement.cluster")).toEqual(await month(2));
  await expect(
    bench.db.query("SELECT escapement.prune(clock_timestamp() + interval '1 day')"),
  ).rejects.toThrow();
});

test("every deed names its person and its reason", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("deeds"));
  const fireTime = await bench.at(-1_000);
  const by = (reason: string) => ({ person: "bob", reason });
  await runManually(bench.db, job, { ...by("one"), fireTime });
  await cancelExecution(bench.db, job, fireTime, by("two"));
  await rerun(bench.db, job, fireTime, {}, by("three"));
  await pauseJob(bench.db, job, by("four"));
  await resumeJob(bench.db, job, by("five"));
  await deleteJob(bench.db, job, by("six"));
  expect((await operations(bench)).slice(1)).toEqual(
    [
      ["run", "one"],
      ["cancel", "two"],
      ["rerun", "three"],
      ["jobs pause", "four"],
      ["jobs resume", "five"],
      ["jobs delete", "six"],
    ].map(([action, reason]) => ({ action, person: "bob", reason })),
  );
});
