/** Least privilege: each role does its work with the program's own statements. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Planner } from "../../src/scheduler/planner.ts";
import { Term } from "../../src/scheduler/term.ts";
import { listAlerts, raiseAlert } from "../../src/store/alert.ts";
import { heldShards, laneOutlook } from "../../src/store/claim.ts";
import { recordClockSample } from "../../src/store/clock-sample.ts";
import { claimTimeZoneData, noteStoreTime, readCluster } from "../../src/store/cluster.ts";
import { readCheckpoint, saveCheckpoint } from "../../src/store/completion.ts";
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
import { readWorkOrders } from "../../src/store/work-order.ts";
import { areOutcomesWritten } from "../../src/store/written-outcome.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

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
