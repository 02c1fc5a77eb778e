/** Invariant 1: the database itself refuses a second execution, shard or period, whatever asks for it. */
import { expect, test } from "vitest";
import { sqlState } from "../../src/store/database.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

const uniqueViolation = "23505";
const period = { period: { unit: "month", offset: 0 } } as const;

test("the constraints refuse a second row of each kind", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("twice", period));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire], { periodKey: "2026-07" });
  for (const table of ["execution", "execution_live", "shard", "job_period"]) {
    const copied = bench.db.query(
      `INSERT INTO escapement.${table} SELECT * FROM escapement.${table} WHERE job_id = $1`,
      [job.jobId],
    );
    expect(sqlState(await copied.catch((error: unknown) => error)), table).toBe(uniqueViolation);
  }
});

test("a second period key for another fire is refused, too", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("paid", period));
  await bench.plan(job, [await bench.at(-2_000)], { periodKey: "2026-07" });
  const second = await bench.at(-1_000);
  await bench.plan(job, [second], { periodKey: "2026-07" });
  const row = await bench.execution(job, second);
  expect(row).toMatchObject({
    status: "blocked",
    reason: "period 2026-07 already has an execution",
    periodKey: null,
  });
  expect(await bench.shards(job, second)).toEqual([]);
});

test("a manual run before the schedule takes the period, and the schedule is recorded as blocked", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("paid", period));
  await runManually(bench.db, job, { ...deed, period: "2026-07" });
  const fire = await bench.at(5_000);
  expect(await bench.plan(job, [fire], { periodKey: "2026-07" })).toBe(0);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "blocked" });
});

test("a manual run after the schedule, or beside another one, is refused", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("paid", period));
  await bench.plan(job, [await bench.at(5_000)], { periodKey: "2026-07" });
  await expect(runManually(bench.db, job, { ...deed, period: "2026-07" })).rejects.toMatchObject({
    code: "E_REFUSED",
  });
  const runs = await Promise.allSettled(
    Array.from({ length: 6 }, () => runManually(bench.db, job, { ...deed, period: "2026-08" })),
  );
  expect(runs.filter((run) => run.status === "fulfilled")).toHaveLength(1);
});

test("the period survives an edited schedule", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("paid", period));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire], { periodKey: "2026-07" });
  const executor = await bench.executor();
  await bench.work(executor);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
  const edited = await bench.apply(testJob("paid", { ...period, command: ["false"] }));
  expect(edited.version).toBe(2);
  const later = await bench.at(60_000);
  await bench.plan(edited, [later], { periodKey: "2026-07" });
  expect(await bench.execution(job, later)).toMatchObject({ status: "blocked" });
});

test("two manual runs of one instant make one execution", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("by-hand", hashed(3)));
  const fireTime = await bench.at(-10_000);
  const runs = await Promise.allSettled(
    Array.from({ length: 6 }, () => runManually(bench.db, job, { ...deed, fireTime })),
  );
  expect(runs.filter((run) => run.status === "fulfilled")).toHaveLength(1);
  expect(await bench.shards(job, fireTime)).toHaveLength(3);
  expect(await bench.value("SELECT count(*)::int FROM escapement.operation WHERE action = 'run'")).toBe(1);
});

test("a finished shard is never claimed or completed again", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("done", hashed(2)));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const claims = await bench.claim(executor);
  expect(claims).toHaveLength(2);
  expect(await bench.complete(executor, claims.slice(0, 1))).toEqual([true]);
  expect(await bench.complete(executor, claims.slice(0, 1))).toEqual([false]);
  expect(await bench.complete(executor, claims.slice(0, 1), "failed")).toEqual([false]);
  expect(await bench.claim(executor)).toEqual([]);
  expect(await bench.shards(job, fire)).toMatchObject([{ status: "success" }, { status: "running" }]);
  expect(await bench.complete(executor, claims.slice(1))).toEqual([true]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
  expect(await bench.staleWrites()).toEqual(["success", "failed"]);
});

test("the same outcome twice in one batch counts once", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("echo", hashed(2)));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const [first, second] = await bench.claim(executor);
  await bench.complete(executor, [first!, first!]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running" });
  expect(await bench.complete(executor, [second!])).toEqual([true]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("fires on both sides of a month's end live in two partitions and are both kept apart", async () => {
  const bench = await Bench.open();
  const never = { policy: "run-now", thresholdMs: 10 * 366 * 86_400_000 } as const;
  const job = await bench.apply(testJob("month-end", { ...hashed(2), misfire: never }));
  const now = await bench.now();
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const fires = [new Date(first.getTime() - 1_000), first];
  await bench.db.query("UPDATE escapement.job SET planned_until = $1", [new Date(first.getTime() - 60_000)]);
  await bench.plan(job, fires);
  const executor = await bench.executor();
  const worked = await bench.work(executor);
  expect(worked.map((fire) => fire.getTime()).sort()).toEqual(
    [...fires, ...fires].map((f) => f.getTime()).sort(),
  );
  expect(await bench.statuses(job)).toEqual(["success", "success"]);
  const { rows } = await bench.db.query("SELECT DISTINCT tableoid::regclass::text FROM escapement.shard");
  expect(rows).toHaveLength(2);
});
