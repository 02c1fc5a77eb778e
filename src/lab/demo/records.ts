/** What the record store says about the run: read only, past every fault. */

import type { Queryable } from "../../store/database.ts";
import type { ExecutionStatus } from "../../store/execution.ts";

/** One execution with its shards summed up. */
export interface RecordedFire {
  /** `namespace/name` */
  readonly job: string;
  readonly fireMs: number;
  readonly executionId: string;
  readonly trigger: "schedule" | "misfire" | "manual";
  readonly status: ExecutionStatus;
  readonly period: string | null;
  readonly shards: number;
  readonly shardsSucceeded: number;
  /** Of all its shards together. */
  readonly attempts: number;
  readonly shardsRetried: number;
  readonly openedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly missedSeconds: number | null;
  readonly epoch: number | null;
  readonly reason: string | null;
}

export interface RunningAttempts {
  readonly node: string;
  readonly incarnation: string;
  /** Of each job, by `namespace/name`. */
  readonly byJob: Readonly<Record<string, number>>;
  readonly count: number;
}

/** Every execution but revoked plans, by job and fire time. */
export async function recordedFires(store: Queryable): Promise<RecordedFire[]> {
  const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::double precision`;
  const { rows } = await store.query<RecordedFire>(
    `SELECT j.namespace || '/' || j.name AS job, ${ms("e.fire_time")} AS "fireMs", e.execution_id AS "executionId",
       e.trigger_type AS trigger, e.status, e.period_key AS period, s.*, ${ms("e.opened_at")} AS "openedMs",
       ${ms("e.actual_start_time")} AS "startedMs", ${ms("e.actual_end_time")} AS "endedMs",
       e.missed_seconds AS "missedSeconds", e.epoch, e.reason
     FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS shards, (count(*) FILTER (WHERE s.status = 'success'))::integer AS "shardsSucceeded",
         coalesce(sum(s.attempt), 0)::integer AS attempts, (count(*) FILTER (WHERE s.attempt > 1))::integer AS "shardsRetried"
       FROM escapement.shard s WHERE s.job_id = e.job_id AND s.fire_time = e.fire_time) s
     WHERE e.revoked_at IS NULL ORDER BY 1, 2`,
  );
  return rows;
}

/** What each living executor runs right now. */
export async function runningAttempts(store: Queryable): Promise<RunningAttempts[]> {
  const { rows } = await store.query<{ node: string; incarnation: string; job: string; count: number }>(
    `SELECT x.node, x.incarnation, j.namespace || '/' || j.name AS job, count(*)::integer AS count
     FROM escapement.shard_live l JOIN escapement.executor x ON x.incarnation = l.owner
     JOIN escapement.job j ON j.job_id = l.job_id
     WHERE x.state = 'active' GROUP BY 1, 2, 3`,
  );
  const found = new Map<
    string,
    { node: string; incarnation: string; byJob: Record<string, number>; count: number }
  >();
  for (const { node, incarnation, job, count } of rows) {
    const one = found.get(incarnation) ?? { node, incarnation, byJob: {}, count: 0 };
    one.byJob[job] = count;
    one.count += count;
    found.set(incarnation, one);
  }
  return [...found.values()];
}

export interface LostAttempt {
  readonly job: string;
  readonly fireMs: number;
  readonly period: string | null;
  readonly shardNo: number;
  readonly attempt: number;
  readonly fenceToken: number;
  /** The shard has succeeded since, in a later attempt. */
  readonly madeGood: boolean;
}

/** The attempts that ended because their executor was gone. */
export async function lostAttempts(store: Queryable, incarnation: string): Promise<LostAttempt[]> {
  const { rows } = await store.query<LostAttempt>(
    `SELECT j.namespace || '/' || j.name AS job, (extract(epoch FROM a.fire_time) * 1000)::double precision AS "fireMs",
       e.period_key AS period, a.shard_no AS "shardNo", a.attempt, a.fence_token AS "fenceToken",
       s.status = 'success' AND s.attempt > a.attempt AS "madeGood"
     FROM escapement.shard_attempt a JOIN escapement.job j ON j.job_id = a.job_id
     JOIN escapement.execution e ON e.job_id = a.job_id AND e.fire_time = a.fire_time
     JOIN escapement.shard s ON s.job_id = a.job_id AND s.fire_time = a.fire_time AND s.shard_no = a.shard_no
     WHERE a.owner = $1 AND a.outcome = 'lease-expired' ORDER BY 1, 2, 4`,
    [incarnation],
  );
  return rows;
}

export interface FailedAttempt {
  readonly job: string;
  readonly fireMs: number;
  readonly shardNo: number;
  readonly attempt: number;
  readonly error: string | null;
}

/** Attempts that failed by themselves, that is, not because their executor went away or was stopped. */
export async function failedAttempts(store: Queryable): Promise<FailedAttempt[]> {
  const { rows } = await store.query<FailedAttempt>(
    `SELECT j.namespace || '/' || j.name AS job, (extract(epoch FROM a.fire_time) * 1000)::double precision AS "fireMs",
       a.shard_no AS "shardNo", a.attempt, a.error
     FROM escapement.shard_attempt a JOIN escapement.job j ON j.job_id = a.job_id
     WHERE a.outcome IN ('retry', 'failed') ORDER BY 1, 2, 3, 4`,
  );
  return rows;
}

export interface Counts {
  /** Writes of attempts that no longer held their shard. */
  readonly staleWrites: number;
  /** Attempts that did not succeed, by outcome. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Jobs with an alert about missed fires. */
  readonly alertedJobs: readonly string[];
}

export async function readCounts(store: Queryable): Promise<Counts> {
  const stale = await store.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.stale_write",
  );
  const attempts = await store.query<{ outcome: string; count: number }>(
    "SELECT outcome, count(*)::integer AS count FROM escapement.shard_attempt GROUP BY outcome",
  );
  const alerts = await store.query<{ job: string }>(
    `SELECT DISTINCT j.namespace || '/' || j.name AS job FROM escapement.alert_outbox a
     JOIN escapement.job j ON j.job_id = a.job_id WHERE a.kind = 'missed' ORDER BY 1`,
  );
  return {
    staleWrites: stale.rows[0]!.count,
    attempts: Object.fromEntries(attempts.rows.map(({ outcome, count }) => [outcome, count])),
    alertedJobs: alerts.rows.map((row) => row.job),
  };
}

/** Executions that are open, wait in line, or are due and not decided; 0 when everything has settled. */
export async function unsettled(store: Queryable): Promise<number> {
  const { rows } = await store.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.execution_live WHERE state <> 'planned' OR due_at <= clock_timestamp()",
  );
  return rows[0]!.count;
}

/** When a leader of this epoch or a later one first planned an execution; null when none has yet. */
export async function firstPlannedBy(store: Queryable, epoch: number): Promise<Date | null> {
  const { rows } = await store.query<{ at: Date | null }>(
    "SELECT min(planned_at) AS at FROM escapement.execution WHERE epoch >= $1",
    [epoch],
  );
  return rows[0]?.at ?? null;
}
