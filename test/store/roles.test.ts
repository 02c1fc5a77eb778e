/** Least privilege: each role does its work with the program's own statements, and nothing else. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { installProbes, removeProbes, stopProbes } from "../../src/chaos/drill/probe-load.ts";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import { Planner } from "../../src/scheduler/planner.ts";
import { Term } from "../../src/scheduler/term.ts";
import { digest } from "../../src/spec/digest.ts";
import { listAlerts, raiseAlert } from "../../src/store/alert.ts";
import { heldShards, laneOutlook } from "../../src/store/claim.ts";
import { recordClockSample } from "../../src/store/clock-sample.ts";
import { claimTimeZoneData, noteStoreTime, readCluster } from "../../src/store/cluster.ts";
import { readCheckpoint, saveCheckpoint } from "../../src/store/completion.ts";
import { sqlState } from "../../src/store/database.ts";
import { haltDrills, liftDrillHalt } from "../../src/store/drill/drill-halt.ts";
import {
  beginDrillRun,
  endDrillRun,
  renewDrillRun,
  requestDrillAbort,
  setDrillState,
} from "../../src/store/drill/drill-run.ts";
import { sampleCluster } from "../../src/store/drill/drill-sample.ts";
import { applyProbe, endProbe } from "../../src/store/drill/probe-job.ts";
import { listExecutions } from "../../src/store/execution.ts";
import {
  clampExecutorLeases,
  livingExecutors,
  reapExecutor,
  renewExecutor,
  setExecutorState,
  takeOver,
} from "../../src/store/executor.ts";
import { freezeKeys } from "../../src/store/frozen-key.ts";
import { listJobs } from "../../src/store/job.ts";
import { readLeader, renewLeadership } from "../../src/store/leadership.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { rerun } from "../../src/store/manual-rerun.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { checkSchema } from "../../src/store/migrate.ts";
import { letWaitingAskAgain, openDue } from "../../src/store/opening.ts";
import { readBacklog } from "../../src/store/overview.ts";
import { ensurePartitions } from "../../src/store/planning.ts";
import { listPartitions, prunable, prune } from "../../src/store/retention.ts";
import { listSchedulers, noteScheduler } from "../../src/store/scheduler-row.ts";
import { readServerHealth } from "../../src/store/watch/health.ts";
import { readWorkOrders } from "../../src/store/work-order.ts";
import { areOutcomesWritten } from "../../src/store/written-outcome.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

const denied = "42501";
/** As a drill makes them. */
const probe = (nth: number, shards: number) => ({
  ...testJob(`probe-${nth}`, {
    schedule: { kind: "every", everyMs: 5_000 },
    ...(shards > 1 && hashed(shards)),
  }),
  namespace: "drill",
});
const period = { period: { unit: "day", offset: 0 } } as const;

/** Jobs whose due fires take every branch of opening. */
async function planEveryPolicy(bench: Bench): Promise<void> {
  const fires = await Promise.all([-60_000, -50_000, -4_000, -2_000].map((ms) => bench.at(ms)));
  const policies = [
    { blocking: { policy: "queue", maxQueued: 1 }, misfire: { policy: "skip", thresholdMs: 10_000 } },
    {
      blocking: { policy: "forbid" },
      misfire: { policy: "run-now", thresholdMs: 10_000 },
      catchUp: { maxFires: 1, keep: "oldest" },
    },
    {
      blocking: { policy: "replace" },
      misfire: { policy: "within-window", thresholdMs: 10_000, windowMs: 20_000 },
    },
    { blocking: { policy: "allow" } },
  ] as const;
  for (const [i, policy] of policies.entries()) {
    const job = await bench.apply(testJob(`policy-${i}`, { ...policy, ...period, ...hashed(2) }));
    for (const [day, fire] of fires.entries())
      await bench.plan(job, [fire], { periodKey: `2026-01-0${day + 1}` });
  }
}

test("the scheduler's role can do all that a scheduler does", async () => {
  const owner = await Bench.open();
  const job = await owner.apply(testJob("each", { schedule: { kind: "every", everyMs: 10_000 } }));
  await planEveryPolicy(owner);
  const dead = await owner.executor();
  await openDue(owner.db);
  await owner.claim(dead);
  await owner.expire(dead);
  await owner.db.query("UPDATE escapement.leader SET expires_at = '-infinity'");
  const { db } = await owner.as("scheduler");
  await checkSchema(db);
  await claimTimeZoneData(db, "2026a");
  const term = (await Term.begin(
    db,
    { holder: randomUUID(), node: "n", host: "h" },
    { leaseMs: 60_000, renewEveryMs: 1, stopEarlyMs: 1 },
  ))!;
  await term.renewIfDue(db, true);
  const planner = new Planner(db, { lookAheadMs: 120_000, maxRows: 2_000, batchJobs: 500 });
  expect((await planner.pass(term, async () => {})).planned).toBeGreaterThan(5);
  await openDue(db);
  expect((await livingExecutors(db)).length).toBe(1);
  const [lease] = await livingExecutors(db);
  expect(await reapExecutor(db, dead, lease!.leaseUntil)).toBeGreaterThan(0);
  await clampExecutorLeases(db);
  await letWaitingAskAgain(db);
  await noteStoreTime(db);
  const now = await owner.now();
  await ensurePartitions(db, now, new Date(now.getTime() + 90 * 86_400_000));
  await recordClockSample(db, { node: "n", part: "store", kind: "step", offsetMs: 1, roundTripMs: null });
  await raiseAlert(db, { dedupKey: "x", kind: "x", severity: "info", message: "x" });
  const row = {
    incarnation: randomUUID(),
    node: "n",
    host: "h",
    pid: 1,
    version: "0",
    timeZoneData: "2026a",
  };
  await noteScheduler(db, { ...row, role: "leader", http: "", offsetMs: 0 });
  await noteScheduler(db, { ...row, role: "stopped", http: "", offsetMs: 0 });
  await prune(db, (await prunable(db, 13)).before, deed);
  const fireTime = await owner.at(-1_000);
  await runManually(db, job, { ...deed, fireTime });
  await cancelExecution(db, job, fireTime, deed);
  await rerun(db, job, fireTime, {}, deed);
  await term.end(db);
});

test("the executor's role can do all that an executor does, opening by every policy included", async () => {
  const owner = await Bench.open();
  await planEveryPolicy(owner);
  const frozen = await owner.apply(
    testJob("frozen", {
      shards: { by: "frozen", count: 2, freeze: ["true"] },
      resources: { class: "io", peakMemoryBytes: 1 },
    }),
  );
  await owner.plan(frozen, [await owner.at(-1_000)]);
  const bench = await owner.as("executor");
  const { db } = bench;
  await checkSchema(db);
  await openDue(db);
  const statuses = await owner.db.query("SELECT DISTINCT status FROM escapement.execution ORDER BY 1");
  expect(statuses.rows.map((row) => row.status)).toEqual([
    "blocked",
    "cancelled",
    "missed",
    "pending",
    "planned",
  ]);
  const me = await bench.executor();
  await renewExecutor(db, me, 1);
  await laneOutlook(db);
  const claims = [...(await bench.claim(me)), ...(await bench.claim(me, { catchUp: true }))];
  expect(claims.length).toBeGreaterThan(5);
  expect(await heldShards(db, me)).toHaveLength(claims.length);
  expect(await readWorkOrders(db, claims)).toHaveLength(claims.length);
  expect(await saveCheckpoint(db, me, claims[0]!, "x", 1)).toBe(true);
  expect(await readCheckpoint(db, claims[0]!)).toEqual({ data: "x", rows: 1 });
  const outcomes = ["success", "failed", "retry", "interrupted", "cancelled"] as const;
  for (const [i, outcome] of outcomes.entries())
    expect(await bench.complete(me, [claims[i]!], outcome)).toEqual([true]);
  expect(await bench.complete(me, [claims[0]!])).toEqual([false]);
  await areOutcomesWritten(db, [
    { ...claims[0]!, outcome: "success", delayMs: 0, rows: null, exitCode: null, error: null },
  ]);
  const [freezing] = await bench.claim(me, { class: "io" });
  expect(await freezeKeys(db, me, freezing!, 2, ["a", "b"])).toBe(true);
  expect(await freezeKeys(db, me, freezing!, 2, ["b", "c"])).toBe(true);
  expect(await bench.complete(me, [freezing!])).toEqual([true]);
  const heir = await bench.executor();
  expect(await takeOver(db, heir, me)).toBeGreaterThan(0);
  await bench.claim(heir);
  await owner.expire(heir);
  const dead = (await livingExecutors(db)).find((one) => one.incarnation === heir)!;
  expect(await reapExecutor(db, heir, dead.leaseUntil)).toBeGreaterThan(0);
  const last = await bench.executor();
  await setExecutorState(db, last, "draining");
  await setExecutorState(db, last, "stopped");
  await recordClockSample(db, { node: "n", part: "executor", kind: "offset", offsetMs: 1, roundTripMs: 1 });
  await raiseAlert(db, { dedupKey: "x", kind: "x", severity: "info", message: "x" });
});

test("the reader and the watchman can read everything; the watchman can raise and mark alerts", async () => {
  const owner = await Bench.open();
  await planEveryPolicy(owner);
  for (const role of ["reader", "watchman"] as const) {
    const { db } = await owner.as(role);
    await checkSchema(db);
    for (const read of [
      listJobs,
      listExecutions,
      listAlerts,
      listSchedulers,
      livingExecutors,
      readBacklog,
      readCluster,
      readLeader,
      listPartitions,
    ]) {
      await read(db);
    }
    expect(await db.query("SELECT escapement.shard_of('x', 4)")).toMatchObject({ rowCount: 1 });
  }
  const { db } = await owner.as("watchman");
  const alert = { dedupKey: "late", kind: "late", severity: "critical", message: "one" } as const;
  await raiseAlert(db, alert);
  await raiseAlert(db, { ...alert, message: "two" });
  await db.query("UPDATE escapement.alert_outbox SET sent_at = clock_timestamp() WHERE dedup_key = 'late'");
  expect((await listAlerts(db)).find((row) => row.dedupKey === "late")).toMatchObject({
    count: 2,
    message: "two",
  });
  await recordClockSample(db, { node: "n", part: "store", kind: "offset", offsetMs: 1, roundTripMs: 1 });
});

test("the role of drills can do all that a drill does to the records: its own jobs, its run, the halt", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("drill");
  await checkSchema(db);
  const jobs = [probe(1, 4), probe(2, 1)];
  await installProbes(db, jobs, deed);
  await installProbes(db, jobs, deed);
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
  await readServerHealth(db);
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
  await installProbes(db, [probe(1, 4)], deed);
  await owner.plan(await owner.job("drill/probe-1"), [await owner.at(-1_000)]);
  expect(await applyProbe(db, probe(1, 2), digest(probe(1, 2)), deed)).toBe("busy");
});

const forbidden: Record<"scheduler" | "executor" | "watchman" | "reader" | "drill", string[]> = {
  scheduler: [
    "INSERT INTO escapement.job_version SELECT job_id, 9, digest, definition, effective_from, applied_by FROM escapement.job_version",
    "UPDATE escapement.job_version SET definition = '{}'",
    "DELETE FROM escapement.job",
    "UPDATE escapement.operation SET reason = ''",
    "DELETE FROM escapement.operation",
    "DELETE FROM escapement.shard_attempt",
    "UPDATE escapement.migration SET digest = ''",
    "SELECT nextval('escapement.fence_sequence')",
    "TRUNCATE escapement.execution",
    "DROP TABLE escapement.execution",
  ],
  executor: [
    "UPDATE escapement.leader SET epoch = epoch + 1",
    "UPDATE escapement.job SET state = 'deleted'",
    "UPDATE escapement.job SET planned_until = now()",
    "UPDATE escapement.job_version SET definition = '{}'",
    "INSERT INTO escapement.execution SELECT * FROM escapement.execution",
    "DELETE FROM escapement.execution",
    "UPDATE escapement.cluster SET generation = 1",
    "INSERT INTO escapement.operation (person, action, reason) VALUES ('', '', '')",
    "DELETE FROM escapement.stale_write",
    "DELETE FROM escapement.shard_attempt",
    "SELECT escapement.prune(clock_timestamp())",
    "SELECT escapement.leader_acquire(gen_random_uuid(), '', '', 1000)",
    "SELECT escapement.plan(gen_random_uuid(), 1, '[]', '[]')",
    "SELECT escapement.revoke_planned(1, '')",
    "SELECT setval('escapement.fence_sequence', 1)",
    "DROP TABLE escapement.shard",
  ],
  drill: [
    "INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until) VALUES ('drill', 'x', 'active', 1, now(), now())",
    "UPDATE escapement.job SET state = 'paused'",
    "INSERT INTO escapement.job_version SELECT job_id, 9, digest, definition, effective_from, applied_by FROM escapement.job_version",
    "UPDATE escapement.job_version SET definition = '{}'",
    "DELETE FROM escapement.job",
    "UPDATE escapement.leader SET epoch = epoch + 1",
    "INSERT INTO escapement.execution SELECT * FROM escapement.execution",
    "UPDATE escapement.execution SET status = 'success'",
    "DELETE FROM escapement.execution_live",
    "DELETE FROM escapement.stale_write",
    "UPDATE escapement.operation SET reason = ''",
    "DELETE FROM escapement.drill_run",
    "UPDATE escapement.alert_outbox SET resolved_at = now()",
    "SELECT escapement.drill_job_enter(1, 'missed', '')",
    "SELECT escapement.revoke_planned(1, '')",
    "SELECT escapement.plan(gen_random_uuid(), 1, '[]', '[]')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.prune(clock_timestamp())",
  ],
  watchman: [
    "INSERT INTO escapement.drill_run SELECT * FROM escapement.drill_run",
    "SELECT escapement.drill_job_end('probe-1', 'deleted', '', '')",
    "UPDATE escapement.execution SET status = 'success'",
    "UPDATE escapement.leader SET epoch = 0",
    "UPDATE escapement.job SET state = 'paused'",
    "DELETE FROM escapement.alert_delivery",
    "INSERT INTO escapement.operation (person, action, reason) VALUES ('', '', '')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.cancel(1, now(), '')",
  ],
  reader: [
    "UPDATE escapement.execution SET status = 'success'",
    "INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, message) VALUES ('', '', 'info', '')",
    "SELECT escapement.raise_alert('', '', 'info', NULL, NULL, '')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.prune(clock_timestamp())",
    "CREATE TABLE escapement.mine ()",
    "SELECT 1 FROM escapement.job FOR UPDATE",
  ],
};

test.each(Object.entries(forbidden))("the role %s can do nothing else", async (role, statements) => {
  const owner = await Bench.open();
  await owner.apply(testJob("there"));
  const { db } = await owner.as(role as keyof typeof forbidden);
  for (const statement of statements) {
    const answer = await db.query(statement).then(
      () => "allowed",
      (error: unknown) => sqlState(error),
    );
    expect(answer, statement).toBe(denied);
  }
});

test("a login carries the limits that keep a frozen client from keeping its locks", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("scheduler");
  const { rows } = await db.query(
    "SELECT name, setting FROM pg_settings WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout') ORDER BY name",
  );
  expect(rows).toEqual([
    { name: "idle_in_transaction_session_timeout", setting: "4000" },
    { name: "statement_timeout", setting: "30000" },
  ]);
});

test("a leader frozen inside a transaction loses its lock within seconds, and the other takes over", async () => {
  const owner = await Bench.open();
  const { holder, epoch } = await owner.lead(5_000);
  const { db } = await owner.as("scheduler");
  const frozen = db.transaction(async (tx) => {
    await tx.query("SELECT escapement.leader_fence($1, $2)", [holder, epoch]);
    // Says nothing more: the server must end it.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await tx.query("SELECT 1");
  });
  const ended = expect(frozen).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  await owner.db.query("SELECT pg_sleep(5.2)");
  const term = await Term.begin(
    owner.db,
    { holder: randomUUID(), node: "b", host: "b" },
    { leaseMs: 60_000, renewEveryMs: 5_000, stopEarlyMs: 1_000 },
  );
  expect(term?.epoch).toBe(epoch + 1);
  expect(await renewLeadership(owner.db, holder, epoch)).toBeNull();
  await ended;
});
