/** Causes that need more than a row: each is brought about as it happens, by planner, opener, guard and watchman. */
import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { Planner } from "../../../src/scheduler/planner.ts";
import { Term } from "../../../src/scheduler/term.ts";
import { Database } from "../../../src/store/database.ts";
import { settle } from "../../../src/store/guard-settle.ts";
import { deleteJob } from "../../../src/store/job-change.ts";
import { openDue } from "../../../src/store/opening.ts";
import { diagnoseWindow } from "../../../src/watchman/diagnose/diagnose-window.ts";
import { readWindow } from "../../../src/watchman/diagnose/read-window.ts";
import { judge, storeUnreachable } from "../../../src/watchman/judge.ts";
import { defaultWatchSettings } from "../../../src/watchman/settings.ts";
import { guardDatabase } from "../../guard/guard-database.ts";
import { Bench, deed } from "../../store/bench.ts";
import { testJob } from "../../support/job.ts";
import { Receiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { DeskRehearsal } from "../desk-rehearsal.ts";
import { picture } from "../well-picture.ts";
import { brief, type Case, diagnose, end, judgeCase, opened } from "./plant.ts";

const skip = { misfire: { policy: "skip", thresholdMs: 20_000 } } as const;

const cases: readonly Case[] = [
  {
    what: "not caught up, since the one before it in the chain failed",
    job: { misfire: { policy: "run-now", thresholdMs: 1_000 } },
    plant: async (bench, job) => {
      const fires = [await bench.at(-20_000), await bench.at(-10_000)];
      await bench.plan(job, fires, { triggerType: "misfire" });
      await openDue(bench.db);
      const executor = await bench.executor();
      await end(bench, executor, await bench.claim(executor, { catchUp: true }), {
        outcome: "failed",
        exitCode: 1,
        error: "exit code 1",
      });
      await openDue(bench.db);
    },
    expected: ["shard-failed job-error", "never-fired chain-broken"],
  },
  {
    what: "a program that is not there, until its tries were used up",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const error = "cannot be started: spawn /nowhere ENOENT";
      await end(bench, executor, await bench.claim(executor), { outcome: "failed", error });
    },
    expected: ["shard-failed cannot-start"],
  },
  {
    what: "a program that is not there, as the shell that starts a scope says it",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const answer = { outcome: "failed", exitCode: 127, error: "exit code 127" } as const;
      await end(bench, executor, await bench.claim(executor), answer);
    },
    expected: ["shard-failed cannot-start?"],
  },
  {
    what: "given back by a host that cannot run it, and by no other taken",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const error = "this host cannot run it: there is no user ghost";
      await end(bench, executor, await bench.claim(executor), {
        outcome: "interrupted",
        error,
        delayMs: 10_000,
      });
    },
    expected: ["interrupted cannot-start"],
  },
  {
    what: "deleted between its planning and its time",
    plant: async (bench, job) => {
      await bench.plan(job, [await bench.at(60_000)]);
      await deleteJob(bench.db, await bench.job(job.name), deed);
      await bench.db.query("UPDATE escapement.execution SET fire_time = fire_time - interval '10 minutes'");
    },
    expected: ["never-fired deleted!"],
  },
  {
    what: "an attempt that waited for a lock until its tries were used up",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const error = "exit code 1: ERROR: canceling statement due to lock timeout";
      await end(bench, executor, await bench.claim(executor), { outcome: "failed", exitCode: 1, error });
    },
    expected: ["shard-failed lock-wait"],
  },
];

test.each(cases)("$what", judgeCase);

async function readAll(bench: Bench) {
  const [from, to] = [await bench.at(-3_600_000), await bench.at(60_000)];
  return diagnoseWindow((await readWindow(bench.db, { from, to })).rows, from, to);
}

test("a definition that the planner cannot read is named, until it is repaired", async () => {
  const bench = await Bench.open();
  const every = { schedule: { kind: "cron", cron: "* * * * *" }, ...skip } as const;
  const job = await bench.apply(testJob("settlement", every));
  const since = await bench.at(-600_000);
  await bench.db.query("UPDATE escapement.job SET known_since = $1, planned_until = $1", [since]);
  await bench.db.query(
    `UPDATE escapement.job_version SET effective_from = $1, definition = jsonb_set(definition, '{timeZone}', '"Mars/Olympus"')`,
    [since],
  );
  const plan = async () => {
    const lease = { leaseMs: 15_000, renewEveryMs: 5_000, stopEarlyMs: 3_000 };
    const term = await Term.begin(bench.db, { holder: randomUUID(), node: "a", host: "a" }, lease);
    const planner = new Planner(bench.db, { lookAheadMs: 1_000, maxRows: 2_000, batchJobs: 500 });
    while ((await planner.pass(term!, async () => {})).more);
    await term!.end(bench.db);
  };
  await plan();
  // On this Node nobody can say when it fires: that is said, and no other job suffers.
  await bench.apply(testJob("other", skip));
  const unread = await readAll(bench);
  expect(unread.unreadable).toMatchObject([{ job: "default/settlement", version: 1 }]);
  expect(unread.diagnoses).toEqual([]);
  // A Node that knows the zone sees what was not planned, and why.
  await bench.db.query(
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{timeZone}', '"UTC"')`,
  );
  const broken = await diagnose(bench, job);
  expect(new Set(broken.map(brief))).toEqual(new Set(["never-fired bad-definition"]));
  expect(broken.length).toBeGreaterThanOrEqual(8);
  // What goes wrong after the repair goes wrong for another reason.
  const repaired = await bench.at(-180_000);
  await bench.apply(testJob("settlement", { ...every, timeoutMs: 61_000 }));
  await bench.db.query("UPDATE escapement.job_version SET effective_from = $1 WHERE version = 2", [repaired]);
  await bench.db.query("UPDATE escapement.alert_outbox SET first_at = $1", [since]);
  const found = await diagnose(bench, job);
  const causes = (after: boolean) =>
    new Set(found.filter(({ fireTime }) => fireTime > repaired === after).map(({ cause }) => cause));
  expect(causes(false)).toEqual(new Set(["bad-definition"]));
  expect(causes(true)).toEqual(new Set(["no-leader"]));
});

test("an opening that waits for a lock right now is named, with who is in the way", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("settlement"));
  await bench.executor();
  await bench.plan(job, [await bench.at(-120_000)]);
  await bench.db.query("UPDATE escapement.execution SET planned_at = fire_time - interval '2 minutes'");
  await bench.db.query("UPDATE escapement.leader SET acquired_at = clock_timestamp() - interval '1 hour'");
  await bench.db.query("UPDATE escapement.executor SET started_at = clock_timestamp() - interval '1 hour'");
  let found: Awaited<ReturnType<typeof diagnose>> = [];
  let opening: Promise<unknown> = Promise.resolve();
  await bench.db.transaction(async (tx) => {
    await tx.query("LOCK TABLE escapement.execution_live IN SHARE MODE");
    opening = openDue(bench.db);
    await until(
      async () => (await bench.value("SELECT count(*)::int FROM pg_locks WHERE NOT granted")) !== 0,
      { what: "somebody to wait", everyMs: 50 },
    );
    found = await diagnose(bench, job);
  });
  await opening;
  expect(found.map(brief)).toEqual(["never-fired lock-wait?"]);
  const wait = found[0]!.evidence.find(({ from }) => from === "pg_locks");
  expect(wait?.row.blockedBy).toHaveLength(1);
});

test("a forgotten transaction that holds the job's row is named, though nobody queues behind it", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("settlement"));
  await bench.executor();
  await bench.plan(job, [await bench.at(-120_000)]);
  await bench.db.query("UPDATE escapement.execution SET planned_at = fire_time - interval '2 minutes'");
  await bench.db.query("UPDATE escapement.leader SET acquired_at = clock_timestamp() - interval '1 hour'");
  await bench.db.query("UPDATE escapement.executor SET started_at = clock_timestamp() - interval '1 hour'");
  const [from, to] = [await bench.at(-3_600_000), await bench.at(60_000)];
  const { rows } = await readWindow(bench.db, { jobId: job.jobId, from, to });
  // A real one must be half a minute old: that is on the hosts, in test/hosts/watchman.
  expect(rows.around.lockHolders).toEqual([]);
  const lockHolders = [{ pid: 7, application: "psql", since: from }];
  const found = diagnoseWindow({ ...rows, around: { ...rows.around, lockHolders } }, from, to).diagnoses;
  expect(found.map(brief)).toEqual(["never-fired lock-wait?"]);
  expect(found[0]!.text).toContain("session 7 (psql) has held locks");
});

test("a call that was repeated at a receiver that takes a repeat for a new one", async () => {
  const bench = await Bench.open();
  const guard = await guardDatabase();
  onTestFinished(() => guard.close());
  const job = await bench.apply(testJob("settlement"));
  const [fire] = await opened(bench, job, -1_000);
  await bench.work(await bench.executor());
  const key = `default/settlement/${fire!.toISOString()}/S-1`;
  const options = {
    receiver: { name: "bank", deduplicating: false },
    request: { amount: 1 },
    leaseMs: 30_000,
  };
  const db = new Database(guard.url);
  onTestFinished(() => db.end());
  const call = (act: () => Promise<unknown>) => guard.guard.externalCall(key, options, async () => act());
  await call(async () => {
    throw new Error("the connection was lost");
  }).catch(() => {});
  const judgeWith = async () => {
    const [from, to] = [await bench.at(-60_000), await bench.at(60_000)];
    const { rows } = await readWindow(bench.db, { jobId: job.jobId, from, to }, db);
    return diagnoseWindow(rows, from, to).diagnoses.map(brief);
  };
  expect(await judgeWith()).toEqual([]);
  await settle(db, { kind: "call", key, to: "ready", by: "sam", reason: "not in the bank's list" });
  await call(async () => ({ ok: true }));
  expect(await judgeWith()).toEqual(["duplicate unrepeatable-call?"]);
});

test("a call in doubt whose own late answer settles it was made once", async () => {
  const bench = await Bench.open();
  const guard = await guardDatabase();
  onTestFinished(() => guard.close());
  const job = await bench.apply(testJob("settlement"));
  const [fire] = await opened(bench, job, -1_000);
  await bench.work(await bench.executor());
  const db = new Database(guard.url);
  onTestFinished(() => db.end());
  const key = `default/settlement/${fire!.toISOString()}/S-1`;
  const { rows } = await db.query<{ token: string }>(
    "SELECT token FROM escapement_guard.call_begin($1, '1', 'bank', false, '1 ms')",
    [key],
  );
  await until(async () => (await db.query("SELECT escapement_guard.call_sweep() AS n")).rows[0]!.n === 1, {
    what: "the end of its lease",
  });
  await db.query("SELECT escapement_guard.call_done($1, $2, '1')", [key, rows[0]!.token]);
  const [from, to] = [await bench.at(-60_000), await bench.at(60_000)];
  const read = await readWindow(bench.db, { jobId: job.jobId, from, to }, db);
  expect(diagnoseWindow(read.rows, from, to).diagnoses).toEqual([]);
});

test("an outage of the store that the watchman has told, while another trouble of the store was open", async () => {
  const desk = await DeskRehearsal.open(await Receiver.open());
  const bench = (await Bench.open()).through(desk.url);
  onTestFinished(() => bench.db.end());
  const job = await bench.apply(testJob("settlement", skip));
  desk.now = await bench.at(-1_200_000);
  const held = judge(
    picture({
      health: {
        ...{ databaseBytes: 1, replicas: [], unknown: [] },
        oldestXmin: { who: "psql", ageMs: 3_600_000, transactions: 9 },
      },
    }),
    defaultWatchSettings,
  );
  await desk.passes(4, held);
  const from = desk.now;
  for (let away = 60_000; away < 360_000; away += 30_000)
    await desk.pass([storeUnreachable("connection refused", away, "w1")], { away: true });
  const to = desk.now;
  await desk.passes(4, held);
  const rows = await desk.rows(
    "SELECT kind, resolved_at IS NULL AS open FROM escapement.alert_outbox ORDER BY first_at",
  );
  expect(rows).toEqual([
    { kind: "xmin-held", open: true },
    { kind: "store-unreachable", open: false },
  ]);
  const middle = new Date((from.getTime() + to.getTime()) / 2);
  await bench.plan(job, [middle]);
  await openDue(bench.db);
  expect((await diagnose(bench, job)).map(brief)).toEqual(["never-fired store-outage"]);
});
