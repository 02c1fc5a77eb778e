/** What was going on around the fires: who led, who executed, what the clocks did, what people did, who waits for a lock. */
import type { Queryable } from "../database.ts";

export interface LeaderTerm {
  readonly node: string | null;
  readonly epoch: number;
  readonly acquiredAt: Date | null;
  readonly expiresAt: Date;
  /** When the process that holds it was started; null: not known. */
  readonly holderStartedAt: Date | null;
}

export interface ProcessLife {
  readonly node: string;
  readonly startedAt: Date;
  /** The last sign of life: the last one seen, or the end of the lease. */
  readonly until: Date;
  /** It takes new work; always true of a scheduler that has not stopped. */
  readonly working: boolean;
  readonly slots: number;
}

export interface ClockStepRow {
  readonly at: Date;
  readonly node: string;
  readonly part: string;
  /** Positive: forward. */
  readonly offsetMs: number;
}

export interface AlertSpan {
  readonly key: string;
  readonly kind: string;
  readonly jobId: number | null;
  readonly message: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface LockWait {
  readonly pid: number;
  readonly blockedBy: readonly number[];
  readonly application: string;
}

/** A session that has kept locks on the records for long, as a forgotten transaction does. */
export interface LockHolder {
  readonly pid: number;
  readonly application: string;
  readonly since: Date;
}

export interface Surroundings {
  /** By the database's clock. */
  readonly now: Date;
  /** Records of fires before this instant were dropped. */
  readonly lowWater: Date;
  readonly leader: LeaderTerm;
  readonly schedulers: readonly ProcessLife[];
  readonly executors: readonly ProcessLife[];
  readonly clockSteps: readonly ClockStepRow[];
  readonly alerts: readonly AlertSpan[];
  /** At this moment; the past is not recorded. */
  readonly lockWaits: readonly LockWait[];
  /** At this moment. Empty as well where this login may not see how old a transaction is (pg_monitor lets it). */
  readonly lockHolders: readonly LockHolder[];
}

const alertKinds = [
  "store-unreachable",
  "no-leader",
  "no-executor",
  "clock-step",
  "store-clock-step",
  "job-unplannable",
  "job-unopenable",
];

/** One look at everything around the fires of [from, to]. */
export async function readSurroundings(db: Queryable, from: Date, to: Date): Promise<Surroundings> {
  const { rows } = await db.query<{ now: Date; lowWater: Date } & LeaderTerm>(
    `SELECT clock_timestamp() AS now, c.low_water AS "lowWater", l.node, l.epoch, l.acquired_at AS "acquiredAt",
       l.expires_at AS "expiresAt", s.started_at AS "holderStartedAt"
     FROM escapement.cluster c CROSS JOIN escapement.leader l LEFT JOIN escapement.scheduler s ON s.incarnation = l.holder`,
  );
  const { now, lowWater, ...leader } = rows[0]!;
  const schedulers = await db.query<ProcessLife>(
    `SELECT node, started_at AS "startedAt", last_seen AS until, role <> 'stopped' AS working, 0 AS slots
     FROM escapement.scheduler WHERE last_seen >= $1 ORDER BY started_at`,
    [from],
  );
  const executors = await db.query<ProcessLife>(
    `SELECT node, started_at AS "startedAt", coalesce(ended_at, lease_until) AS until,
       -- One that takes drills alone starts no job that somebody waits for.
       state = 'active' AND cpu_slots + memory_slots + io_slots > 0 AS working,
       cpu_slots + memory_slots + io_slots + control_slots AS slots
     FROM escapement.executor WHERE coalesce(ended_at, lease_until) >= $1 ORDER BY started_at`,
    [from],
  );
  const steps = await db.query<ClockStepRow>(
    `SELECT at, node, part, offset_ms AS "offsetMs" FROM escapement.clock_sample
     WHERE kind = 'step' AND at >= $1::timestamptz - interval '1 hour' AND at <= $2::timestamptz + interval '1 day' ORDER BY at`,
    [from, to],
  );
  const alerts = await db.query<AlertSpan>(
    `SELECT dedup_key AS key, kind, job_id AS "jobId", message, first_at AS "firstAt", until AS "lastAt" FROM (
       -- While the store is away nobody writes that an alert was seen again: its end says how long it lasted.
       SELECT *, greatest(last_at, resolved_at) AS until FROM escapement.alert_outbox WHERE kind = ANY ($1)) a
     WHERE until >= $2 ORDER BY first_at`,
    [alertKinds, from],
  );
  return {
    now,
    lowWater,
    leader,
    schedulers: schedulers.rows,
    executors: executors.rows,
    clockSteps: steps.rows,
    alerts: alerts.rows,
    lockWaits: await readLockWaits(db),
    lockHolders: await readLockHolders(db),
  };
}

async function readLockWaits(db: Queryable): Promise<LockWait[]> {
  const { rows } = await db.query<LockWait>(
    `SELECT w.pid, pg_blocking_pids(w.pid) AS "blockedBy", coalesce(a.application_name, '') AS application
     FROM (SELECT DISTINCT pid FROM pg_locks WHERE NOT granted) w LEFT JOIN pg_stat_activity a ON a.pid = w.pid
     WHERE a.datname IS NULL OR a.datname = current_database()`,
  );
  return rows;
}

/** No statement of ours takes as long: roles are cut off after 30 s. */
const longLock = "30 seconds";

/**
 * Whoever opens a job takes its row only if nobody else has it, so a forgotten
 * transaction that holds the row makes no queue: its locks on the tables tell of it.
 */
async function readLockHolders(db: Queryable): Promise<LockHolder[]> {
  const { rows } = await db.query<LockHolder>(
    `SELECT a.pid, a.application_name AS application, a.xact_start AS since
     FROM pg_stat_activity a
     WHERE a.datname = current_database() AND a.xact_start < clock_timestamp() - $1::interval AND EXISTS (
       SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
       WHERE l.pid = a.pid AND l.granted AND l.mode <> 'AccessShareLock' AND c.relnamespace = 'escapement'::regnamespace)`,
    [longLock],
  );
  return rows;
}
