/** What the records hold about the fires of a window: the rows that a diagnosis puts side by side. */
import type { Queryable } from "../database.ts";
import type { ExecutionStatus } from "../execution.ts";

export interface FireExecution {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly executionId: string;
  readonly runNo: number;
  readonly trigger: "schedule" | "misfire" | "manual";
  readonly status: ExecutionStatus;
  readonly periodKey: string | null;
  readonly jobVersion: number;
  readonly shardCount: number;
  readonly plannedAt: Date;
  readonly openedAt: Date | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly missedSeconds: number | null;
  readonly epoch: number | null;
  readonly reason: string | null;
  readonly revokedAt: Date | null;
  /** Of an unfinished one; `held`: it waits for another by policy. */
  readonly live: "planned" | "held" | "open" | null;
}

/**
 * Executions with a fire time in [from, to], oldest first, taken-back ones included.
 * @param limit at most so many; the caller asks for one more than it wants, to see whether there are more.
 */
export async function readFireExecutions(
  db: Queryable,
  jobIds: readonly number[],
  from: Date,
  to: Date,
  limit: number,
): Promise<FireExecution[]> {
  const { rows } = await db.query<FireExecution>(
    `SELECT e.job_id AS "jobId", e.fire_time AS "fireTime", e.execution_id AS "executionId", e.run_no AS "runNo",
       e.trigger_type AS trigger, e.status, e.period_key AS "periodKey", e.job_version AS "jobVersion",
       e.shard_count AS "shardCount", e.planned_at AS "plannedAt", e.opened_at AS "openedAt",
       e.actual_start_time AS "startedAt", e.actual_end_time AS "endedAt", e.missed_seconds AS "missedSeconds", e.epoch,
       e.reason, e.revoked_at AS "revokedAt", l.state AS live
     FROM escapement.execution e
     LEFT JOIN escapement.execution_live l ON l.job_id = e.job_id AND l.fire_time = e.fire_time
     WHERE e.job_id = ANY ($1::integer[]) AND e.fire_time >= $2 AND e.fire_time <= $3
     ORDER BY e.fire_time, e.job_id LIMIT $4`,
    [jobIds, from, to, limit],
  );
  return rows;
}

export interface FireShard {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly status: "pending" | "running" | "success" | "failed" | "interrupted" | "cancelled";
  readonly attempt: number;
  readonly node: string | null;
  readonly ownerState: string | null;
  /** Null: nobody holds it. */
  readonly ownerLeaseUntil: Date | null;
  readonly startedAt: Date | null;
  readonly runAfter: Date | null;
  /** Reported by the shard itself, or kept with its checkpoint. */
  readonly rows: number | null;
  readonly error: string | null;
}

interface Window {
  readonly jobIds: readonly number[];
  readonly from: Date;
  readonly to: Date;
}

/** The shards of those executions in the window that did not simply succeed. */
export async function readFireShards(db: Queryable, { jobIds, from, to }: Window): Promise<FireShard[]> {
  const { rows } = await db.query<FireShard>(
    `SELECT s.job_id AS "jobId", s.fire_time AS "fireTime", s.shard_no AS "shardNo",
       CASE WHEN l.owner IS NOT NULL THEN 'running' WHEN l.interrupted THEN 'interrupted' ELSE s.status END AS status,
       coalesce(l.attempt, s.attempt) AS attempt, x.node, x.state AS "ownerState",
       CASE WHEN l.owner IS NOT NULL THEN x.lease_until END AS "ownerLeaseUntil",
       coalesce(l.start_time, s.start_time) AS "startedAt", l.run_after AS "runAfter",
       coalesce(s.rows, c.rows) AS rows, s.error
     FROM escapement.execution e
     JOIN escapement.shard s ON s.job_id = e.job_id AND s.fire_time = e.fire_time
     LEFT JOIN escapement.shard_live l ON l.job_id = s.job_id AND l.fire_time = s.fire_time AND l.shard_no = s.shard_no
     LEFT JOIN escapement.shard_checkpoint c ON c.job_id = s.job_id AND c.fire_time = s.fire_time AND c.shard_no = s.shard_no
     LEFT JOIN escapement.executor x ON x.incarnation = coalesce(l.owner, s.owner)
     WHERE e.job_id = ANY ($1::integer[]) AND e.fire_time >= $2 AND e.fire_time <= $3
       AND s.fire_time >= $2 AND s.fire_time <= $3
       AND e.status IN ('pending', 'running', 'interrupted', 'failed', 'cancelled')
     ORDER BY s.fire_time, s.job_id, s.shard_no`,
    [jobIds, from, to],
  );
  return rows;
}

export interface FireAttempt {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
  readonly outcome: "failed" | "retry" | "interrupted" | "lease-expired" | "cancelled";
  readonly node: string | null;
  readonly fenceToken: string | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date;
  readonly rows: number | null;
  readonly exitCode: number | null;
  readonly error: string | null;
}

/** Every attempt in the window that did not succeed, in order. */
export async function readFireAttempts(db: Queryable, { jobIds, from, to }: Window): Promise<FireAttempt[]> {
  const { rows } = await db.query<FireAttempt>(
    `SELECT a.job_id AS "jobId", a.fire_time AS "fireTime", a.shard_no AS "shardNo", a.attempt, a.outcome, x.node,
       a.fence_token::text AS "fenceToken", a.start_time AS "startedAt", a.end_time AS "endedAt", a.rows,
       a.exit_code AS "exitCode", a.error
     FROM escapement.shard_attempt a LEFT JOIN escapement.executor x ON x.incarnation = a.owner
     WHERE a.job_id = ANY ($1::integer[]) AND a.fire_time >= $2 AND a.fire_time <= $3
     ORDER BY a.fire_time, a.job_id, a.shard_no, a.attempt`,
    [jobIds, from, to],
  );
  return rows;
}

export interface FireStaleWrite {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly at: Date;
  readonly what: string;
  readonly node: string | null;
  readonly fenceToken: string;
  /** How the claim with this token had ended before; null: not known. */
  readonly lost: FireAttempt["outcome"] | null;
}

/** Writes that came after their claim was lost, and were refused. */
export async function readFireStaleWrites(
  db: Queryable,
  { jobIds, from, to }: Window,
): Promise<FireStaleWrite[]> {
  const { rows } = await db.query<FireStaleWrite>(
    `SELECT w.job_id AS "jobId", w.fire_time AS "fireTime", w.shard_no AS "shardNo", w.at, w.what, x.node,
       w.fence_token::text AS "fenceToken", a.outcome AS lost
     FROM escapement.stale_write w
     LEFT JOIN escapement.executor x ON x.incarnation = w.owner
     LEFT JOIN escapement.shard_attempt a ON a.job_id = w.job_id AND a.fire_time = w.fire_time
       AND a.shard_no = w.shard_no AND a.fence_token = w.fence_token
     WHERE w.job_id = ANY ($1::integer[]) AND w.fire_time >= $2 AND w.fire_time <= $3
     ORDER BY w.at`,
    [jobIds, from, to],
  );
  return rows;
}
