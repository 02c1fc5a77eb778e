/** Planning after downtime, and at the edges: every fire is accounted for, caps are kept, one bad job stops nobody. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import { Planner } from "../../src/scheduler/planner.ts";
import { Term } from "../../src/scheduler/term.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { JobRow } from "../../src/store/job.ts";
import { openDue } from "../../src/store/opening.ts";
import { Bench } from "../store/bench.ts";
import { hashed, testJob } from "../support/job.ts";

const day = 86_400_000;
const lease = { leaseMs: 600_000, renewEveryMs: 300_000, stopEarlyMs: 1_000 };
const lookAheadMs = 120_000;

interface Pass {
  readonly planned: number;
  readonly missed: number;
  readonly statements: number;
}

/** Plans until nothing is left, as the leader's loop does. */
async function planAll(bench: Bench, settings: { maxRows?: number; batchJobs?: number } = {}): Promise<Pass> {
  const term = await Term.begin(bench.db, { holder: randomUUID(), node: "test", host: "test" }, lease);
  const planner = new Planner(bench.db, { lookAheadMs, maxRows: 2_000, batchJobs: 500, ...settings });
  const total = { planned: 0, missed: 0, statements: 0 };
  for (let passes = 0; ; passes += 1) {
    expect(passes, "planning ends").toBeLessThan(50);
    const pass = await planner.pass(term!, async () => {
      total.statements += 1;
    });
    total.planned += pass.planned;
    total.missed += pass.missed;
    if (!pass.more) break;
  }
  await term!.end(bench.db);
  return total;
}

/** Sets a job, or all of them, back: nothing was planned since. */
async function downFor(bench: Bench, ms: number): Promise<Date> {
  const since = await bench.at(-ms);
  await bench.db.query("UPDATE escapement.job SET known_since = $1, planned_until = $1", [since]);
  await bench.db.query("UPDATE escapement.job_version SET effective_from = $1", [since]);
  return since;
}

async function expectAccounted(bench: Bench, job: JobRow, since: Date): Promise<void> {
  const { planned, fires } = (
    await bench.db.query<{ planned: Date; fires: Date[] | null }>(
      `SELECT j.planned_until AS planned, (SELECT array_agg(fire_time ORDER BY fire_time) FROM escapement.execution e WHERE e.job_id = j.job_id) AS fires
       FROM escapement.job j WHERE j.job_id = $1`,
      [job.jobId],
    )
  ).rows[0]!;
  const expected = jobSchedule(job.definition)!.between(since.getTime(), planned.getTime());
  expect(
    (fires ?? []).map((fire) => fire.getTime()),
    job.name,
  ).toEqual(expected);
}

test("500 jobs, three days down: every fire is accounted for, the caps hold, and nothing storms", async () => {
  const bench = await Bench.open();
  const schedules: JobDefinition["schedule"][] = [
    { kind: "cron", cron: "0 * * * *" },
    { kind: "cron", cron: "30 2 * * *" },
    { kind: "every", everyMs: 7_200_000 },
    { kind: "cron", cron: "15 6 * * 1-5" },
    { kind: "cron", cron: "0 0 1 * *" },
  ];
  const misfires: JobDefinition["misfire"][] = [
    { policy: "run-now", thresholdMs: 60_000 },
    { policy: "skip", thresholdMs: 60_000 },
    { policy: "within-window", thresholdMs: 60_000, windowMs: 6 * 3_600_000 },
  ];
  const blockings: JobDefinition["blocking"][] = [
    { policy: "queue", maxQueued: 3 },
    { policy: "forbid" },
    { policy: "replace" },
    { policy: "allow" },
  ];
  const definitions = Array.from({ length: 500 }, (_, i) =>
    testJob(`job-${String(i).padStart(3, "0")}`, {
      schedule: schedules[i % 5]!,
      misfire: misfires[i % 3]!,
      blocking: blockings[i % 4]!,
      catchUp: { maxFires: i % 7, keep: i % 2 ? "oldest" : "newest" },
      ...hashed(1 + (i % 3)),
    }),
  );
  const jobs: JobRow[] = [];
  for (const definition of definitions) jobs.push(await bench.apply(definition));
  const since = await downFor(bench, 3 * day);
  const total = await planAll(bench);
  for (const job of jobs) await expectAccounted(bench, job, since);
  const { rows } = await bench.db.query<{ jobId: number; misfires: number }>(
    `SELECT job_id AS "jobId", count(*)::int AS misfires FROM escapement.execution WHERE trigger_type = 'misfire' AND status = 'planned' GROUP BY job_id`,
  );
  const cap = new Map(jobs.map((job) => [job.jobId, job.definition.catchUp.maxFires]));
  for (const row of rows) expect(row.misfires).toBeLessThanOrEqual(cap.get(row.jobId)!);
  expect(rows.length).toBeGreaterThan(100);
  expect(
    await bench.value(
      "SELECT count(*)::int FROM escapement.execution WHERE status = 'missed' AND reason IS NULL",
    ),
  ).toBe(0);
  expect(await bench.value("SELECT count(*)::int FROM escapement.execution WHERE status = 'missed'")).toBe(
    total.missed,
  );
  // One alert a job, however many of its fires were missed.
  expect(
    await bench.value(
      "SELECT max(n)::int FROM (SELECT count(*) AS n FROM escapement.alert_outbox GROUP BY job_id) AS counts",
    ),
  ).toBe(1);
  // Of each job at most one fire of its catch-up is open at a time, and together they stay within half the slots.
  await openDue(bench.db, { budgetMs: 60_000 });
  expect(
    await bench.value(
      "SELECT max(n)::int FROM (SELECT count(*) AS n FROM escapement.execution_live WHERE catch_up AND state = 'open' GROUP BY job_id) AS counts",
    ),
  ).toBe(1);
  const executor = await bench.executor({ slots: { cpu: 10, memory: 1, io: 1 } });
  expect(await bench.claim(executor, { catchUp: true, share: 0.5, limit: 500 })).toHaveLength(5);
  // A second look finds nothing more to do.
  expect(await planAll(bench)).toMatchObject({ planned: 0, missed: 0 });
}, 240_000);

// Takes about ten seconds of the database alone; the limit is for a machine with much else to do.
test("100,000 missed fires of one job: all on record in bounded statements, the cap kept, one alert", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("flood", {
      schedule: { kind: "every", everyMs: 1_000 },
      misfire: { policy: "run-now", thresholdMs: 10_000 },
      catchUp: { maxFires: 3, keep: "newest" },
    }),
  );
  const since = await downFor(bench, 100_000_000);
  const total = await planAll(bench);
  expect(total.missed).toBeGreaterThan(99_000);
  expect(total.statements).toBeGreaterThan(40);
  await expectAccounted(bench, job, since);
  expect(
    await bench.value(
      "SELECT count(*)::int FROM escapement.execution WHERE trigger_type = 'misfire' AND status = 'planned'",
    ),
  ).toBe(3);
  const { rows } = await bench.db.query<{ kind: string; count: number }>(
    "SELECT kind, (details ->> 'count')::int AS count FROM escapement.alert_outbox",
  );
  expect(rows).toEqual([{ kind: "missed", count: total.missed }]);
}, 240_000);

test("fires before an edit go by the old definition, those after it by the new one", async () => {
  const bench = await Bench.open();
  const first = await bench.apply(testJob("edited", { schedule: { kind: "cron", cron: "0 * * * * *" } }));
  const since = await downFor(bench, 600_000);
  await bench.apply(testJob("edited", { schedule: { kind: "cron", cron: "0,30 * * * * *" } }));
  const edit = await bench.at(-300_000);
  await bench.db.query("UPDATE escapement.job_version SET effective_from = $1 WHERE version = 2", [edit]);
  await bench.db.query("UPDATE escapement.job SET planned_until = $1", [since]);
  await planAll(bench);
  const { rows } = await bench.db.query<{ fire: Date; version: number }>(
    "SELECT fire_time AS fire, job_version AS version FROM escapement.execution ORDER BY fire_time",
  );
  const second = await bench.job("edited");
  const expected = [
    ...jobSchedule(first.definition)!
      .between(since.getTime(), edit.getTime())
      .map((ms) => [ms, 1]),
    ...jobSchedule(second.definition)!
      .between(edit.getTime(), second.plannedUntil.getTime())
      .map((ms) => [ms, 2]),
  ];
  expect(rows.map((row) => [row.fire.getTime(), row.version])).toEqual(expected);
});

test("a job that cannot be planned stops nobody else, and is reported", async () => {
  const bench = await Bench.open();
  const bad = await bench.apply(testJob("bad", { schedule: { kind: "cron", cron: "* * * * *" } }));
  const good = await bench.apply(testJob("good", { schedule: { kind: "cron", cron: "* * * * *" } }));
  const since = await downFor(bench, 600_000);
  await bench.db.query(
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{timeZone}', '"Mars/Olympus"') WHERE job_id = $1`,
    [bad.jobId],
  );
  await planAll(bench);
  await expectAccounted(bench, good, since);
  expect((await bench.job("good")).plannedUntil.getTime()).toBeGreaterThan((await bench.now()).getTime());
  // Its cursor has not moved: once it is repaired, its fires are judged as late ones.
  expect((await bench.job("bad")).plannedUntil).toEqual(since);
  const { rows } = await bench.db.query("SELECT kind, severity, job_id FROM escapement.alert_outbox");
  expect(rows).toContainEqual({ kind: "job-unplannable", severity: "critical", job_id: bad.jobId });
});

test("a paused or deleted job is not planned", async () => {
  const bench = await Bench.open();
  for (const state of ["paused", "deleted"]) {
    await bench.apply(testJob(state, { schedule: { kind: "cron", cron: "* * * * * *" } }));
    await bench.db.query("UPDATE escapement.job SET state = $1 WHERE name = $1", [state]);
  }
  expect(await planAll(bench)).toMatchObject({ planned: 0, missed: 0, statements: 0 });
});

test("planning across the end of a month makes the partitions it needs", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("monthly", {
      schedule: { kind: "cron", cron: "0 0 1 * *" },
      catchUp: { maxFires: 100, keep: "oldest" },
      misfire: { policy: "run-now", thresholdMs: 1_000 },
    }),
  );
  const since = await downFor(bench, 400 * day);
  await planAll(bench);
  await expectAccounted(bench, job, since);
  expect(
    await bench.value("SELECT count(DISTINCT tableoid)::int FROM escapement.execution"),
  ).toBeGreaterThanOrEqual(12);
});

test("pieces small enough for one fire move the cursor step by step and lose nothing", async () => {
  const bench = await Bench.open();
  const jobs = [];
  for (const name of ["a", "b", "c"]) {
    jobs.push(
      await bench.apply(
        testJob(name, {
          schedule: { kind: "cron", cron: "0 * * * *" },
          ...hashed(4),
          misfire: { policy: "run-now", thresholdMs: 1_000 },
          catchUp: { maxFires: 1_000, keep: "oldest" },
        }),
      ),
    );
  }
  const since = await downFor(bench, day);
  await planAll(bench, { maxRows: 7, batchJobs: 2 });
  for (const job of jobs) await expectAccounted(bench, job, since);
  expect(await bench.value("SELECT count(*)::int FROM escapement.shard")).toBe(
    4 *
      (await bench.value<number>("SELECT count(*)::int FROM escapement.execution WHERE status = 'planned'")),
  );
});

test("a leader deposed in the middle of a pass writes no more, and the next one continues exactly there", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("handover", {
      schedule: { kind: "every", everyMs: 1_000 },
      misfire: { policy: "skip", thresholdMs: 1_000 },
    }),
  );
  const since = await downFor(bench, 6_000_000);
  const term = await Term.begin(bench.db, { holder: randomUUID(), node: "old", host: "test" }, lease);
  const planner = new Planner(bench.db, { lookAheadMs, maxRows: 500, batchJobs: 500 });
  let statements = 0;
  const old = planner.pass(term!, async () => {
    statements += 1;
    if (statements === 3) await bench.db.query("UPDATE escapement.leader SET expires_at = clock_timestamp()");
  });
  await expect(old).rejects.toMatchObject({ code: "ES001" });
  const between = await bench.value<number>("SELECT count(*)::int FROM escapement.execution");
  expect(between).toBeGreaterThan(1_000);
  expect(between).toBeLessThan(2_000);
  await planAll(bench);
  await expectAccounted(bench, job, since);
});
