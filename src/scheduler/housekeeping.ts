/**
 * What the leader looks after besides firing: dead executors, partitions ahead
 * of time, executions that wait for nobody, probes that nobody leads, clocks.
 */
import type { Log } from "../base/log.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { raiseAlert } from "../store/alert.ts";
import { recordClockSample } from "../store/clock-sample.ts";
import { noteStoreTime } from "../store/cluster.ts";
import type { Database } from "../store/database.ts";
import { clampExecutorLeases, livingExecutors, reapExecutor } from "../store/executor.ts";
import { LeaseObserver } from "../store/lease-observer.ts";
import { letWaitingAskAgain } from "../store/opening.ts";
import { ensurePartitions } from "../store/planning.ts";
import { prunable, prune } from "../store/retention.ts";
import { readStoreTime } from "../store/store-time.ts";
import { ProbeWatch } from "./probe-watch.ts";

const reapEveryMs = 1_000;
const sweepEveryMs = 5_000;
const partitionsEveryMs = 600_000;
const dayMs = 86_400_000;

export interface HousekeepingReport {
  reaped(shards: number): void;
}

export interface HouseSettings {
  /** Who writes what is recorded here. */
  readonly node: string;
  /** Whole months of records that are kept besides the running one. */
  readonly retentionMonths: number;
}

/** Runs until the signal; a store error ends it with that error. */
export async function keepHouse(
  db: Database,
  settings: HouseSettings,
  log: Log,
  signal: AbortSignal,
  report: HousekeepingReport,
): Promise<void> {
  const { node } = settings;
  const observer = new LeaseObserver();
  const probes = new ProbeWatch(node, log);
  let sweepAt = 0;
  let partitionsAt = 0;
  while (!signal.aborted) {
    const now = monotonicMs();
    await reapDead(db, observer, log, report);
    if (now >= sweepAt) {
      sweepAt = now + sweepEveryMs;
      await letWaitingAskAgain(db);
      await probes.look(db);
      const behindMs = await noteStoreTime(db);
      if (behindMs > 0) await reportClockStep(db, node, -behindMs, log);
    }
    if (now >= partitionsAt) {
      partitionsAt = now + partitionsEveryMs;
      const storeNow = (await readStoreTime(db)).getTime();
      const made = await ensurePartitions(db, new Date(storeNow), new Date(storeNow + 62 * dayMs));
      if (made > 0) log.info({ made }, "partitions made ahead of time");
      await dropOldMonths(db, settings, log);
    }
    await sleep(reapEveryMs, signal);
  }
}

/** Retention: months past it are dropped whole. */
async function dropOldMonths(
  db: Database,
  { node, retentionMonths }: HouseSettings,
  log: Log,
): Promise<void> {
  const { before, partitions } = await prunable(db, retentionMonths);
  if (partitions.length === 0) return;
  const deed = { person: `scheduler ${node}`, reason: `retention of ${retentionMonths} months` };
  const dropped = await prune(db, before, deed);
  if (dropped.length > 0) log.info({ dropped, before }, "records past retention dropped");
}

async function reapDead(
  db: Database,
  observer: LeaseObserver,
  log: Log,
  report: HousekeepingReport,
): Promise<void> {
  const askedAt = monotonicMs();
  for (const dead of observer.observe(await livingExecutors(db), askedAt)) {
    const shards = await reapExecutor(db, dead.incarnation, dead.leaseUntil);
    if (shards === null) continue;
    report.reaped(shards);
    log.warn(
      { executor: dead.node, incarnation: dead.incarnation, shards },
      "executor is gone: its shards are put back",
    );
    if (shards > 0) {
      await raiseAlert(db, {
        dedupKey: `executor-gone:${dead.incarnation}`,
        kind: "executor-gone",
        severity: "warning",
        message: `executor ${dead.node} on ${dead.host} is gone; ${shards} shard(s) were put back`,
      });
    }
  }
}

/** Records a step of the database's clock, and cuts leases that reach too far after a step back. */
export async function reportClockStep(db: Database, node: string, stepMs: number, log: Log): Promise<void> {
  log.error({ stepMs }, "the database's clock has stepped");
  if (stepMs < 0) await clampExecutorLeases(db);
  await recordClockSample(db, { node, part: "store", kind: "step", offsetMs: stepMs, roundTripMs: null });
  await raiseAlert(db, {
    dedupKey: `store-clock-step:${new Date().toISOString().slice(0, 16)}`,
    kind: "store-clock-step",
    severity: "critical",
    message: `the database's clock stepped by ${(stepMs / 1000).toFixed(1)} s; fires are decided by it`,
    details: { stepMs },
  });
}
