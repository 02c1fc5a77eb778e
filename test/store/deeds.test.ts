/** What people do to executions by hand: run, rerun, backfill, prune; and what is refused. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { JobRow } from "../../src/store/job.ts";
import { deleteJob, pauseJob, resumeJob } from "../../src/store/job-change.ts";
import { backfill } from "../../src/store/manual-backfill.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { rerun } from "../../src/store/manual-rerun.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { openDue } from "../../src/store/opening.ts";
import { prune } from "../../src/store/retention.ts";
import { hashed, testJob } from "../support/job.ts";
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
