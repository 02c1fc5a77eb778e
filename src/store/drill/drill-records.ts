/** What the records say of a span of time: jobs, executions and attempts, for a drill's history. */

import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../database.ts";
import type { ExecutionStatus } from "../execution.ts";
import { readNow } from "./drill-sample.ts";

export interface RecordedJob {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly state: "active" | "paused" | "deleted";
  readonly stateSince: Date;
  readonly knownSince: Date;
  readonly version: number;
  /** Since when its definition is in force. */
  readonly effectiveFrom: Date;
  readonly definition: JobDefinition;
}

export interface RecordedExecution {
  readonly job: string;
  readonly fireTime: Date;
  readonly status: ExecutionStatus;
  readonly trigger: "schedule" | "misfire" | "manual";
  readonly reason: string | null;
  readonly shardCount: number;
}

export interface RecordedAttempt {
  readonly job: string;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
  readonly owner: string | null;
  readonly fenceToken: number;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly status: "running" | "success" | "failed" | "retry" | "interrupted" | "lease-expired" | "cancelled";
  /** Where it ran; null when its executor is not known any more. */
  readonly node: string | null;
  /** Of a running one: its owner's lease has not ended. */
  readonly held: boolean;
}

export interface DrillRecords {
  readonly readAt: Date;
  readonly executions: readonly RecordedExecution[];
  readonly attempts: readonly RecordedAttempt[];
}

/** Jobs of the namespace, or with `others` all the rest, that were not deleted before `since`. */
export async function recordedJobs(
  db: Queryable,
  namespace: string,
  others: boolean,
  since: Date,
): Promise<RecordedJob[]> {
  const { rows } = await db.query<RecordedJob>(
    `SELECT j.job_id AS "jobId", j.namespace || '/' || j.name AS job, j.state, j.state_since AS "stateSince",
       j.known_since AS "knownSince", j.version, v.effective_from AS "effectiveFrom", v.definition
     FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version
     WHERE (j.namespace = $1) <> $2 AND (j.state <> 'deleted' OR j.state_since >= $3) ORDER BY job`,
    [namespace, others, since],
  );
  return rows;
}

/** Executions and attempts of these jobs with a fire time in (from, to]. */
export async function readDrillRecords(
  db: Queryable,
  jobIds: readonly number[],
  from: Date,
  to: Date | null,
): Promise<DrillRecords> {
  const values = [jobIds, from, to ?? "infinity"];
  const executions = await db.query<RecordedExecution>(
    `SELECT j.namespace || '/' || j.name AS job, e.fire_time AS "fireTime", e.status, e.trigger_type AS trigger, e.reason,
       e.shard_count AS "shardCount"
     FROM escapement.execution e JOIN escapement.job j USING (job_id)
     WHERE e.job_id = ANY ($1) AND e.fire_time > $2 AND e.fire_time <= $3 ORDER BY e.fire_time, job`,
    values,
  );
  const window = "job_id = ANY ($1) AND fire_time > $2 AND fire_time <= $3";
  // Attempts that ended otherwise, the one that succeeded, and those that still run.
  const attempts = await db.query<RecordedAttempt>(
    `SELECT j.namespace || '/' || j.name AS job, a.fire_time AS "fireTime", a.shard_no AS "shardNo", a.attempt, a.owner,
       a.fence_token AS "fenceToken", a.start_time AS "startedAt", a.end_time AS "endedAt", a.outcome AS status, x.node,
       a.outcome = 'running' AND coalesce(x.lease_until > clock_timestamp(), false) AS held
     FROM (SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, end_time, outcome
           FROM escapement.shard_attempt WHERE fence_token IS NOT NULL AND ${window}
           UNION ALL
           SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, end_time, status
           FROM escapement.shard WHERE status = 'success' AND ${window}
           UNION ALL
           SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, NULL, 'running'
           FROM escapement.shard_live WHERE owner IS NOT NULL AND ${window}) a
     JOIN escapement.job j USING (job_id) LEFT JOIN escapement.executor x ON x.incarnation = a.owner
     ORDER BY a.fire_time, job, a.shard_no, a.attempt`,
    values,
  );
  return { readAt: await readNow(db), executions: executions.rows, attempts: attempts.rows };
}

/** Executions of these jobs that are due and not finished, with how many of their shards somebody runs. */
export async function unfinishedWork(
  db: Queryable,
  jobIds: readonly number[],
): Promise<{ readonly executions: number; readonly shards: number }> {
  const { rows } = await db.query<{ executions: number; shards: number }>(
    `SELECT (SELECT count(*)::integer FROM escapement.execution_live WHERE job_id = ANY ($1)) AS executions,
       (SELECT count(*)::integer FROM escapement.shard_live WHERE job_id = ANY ($1)) AS shards`,
    [jobIds],
  );
  return rows[0]!;
}

/** Writes that the store's fence refused since, of these jobs' fires since. */
export async function staleWritesSince(
  db: Queryable,
  jobIds: readonly number[],
  since: Date,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.stale_write WHERE job_id = ANY ($1) AND at >= $2 AND fire_time >= $2",
    [jobIds, since],
  );
  return rows[0]!.count;
}

/** True if the fires of every active job of the namespace are planned beyond now, as they are where a leader works. */
export async function isPlannedAhead(db: Queryable, namespace: string): Promise<boolean> {
  const { rows } = await db.query<{ behind: number }>(
    `SELECT count(*)::integer AS behind FROM escapement.job
     WHERE namespace = $1 AND state = 'active' AND planned_until < clock_timestamp()`,
    [namespace],
  );
  return rows[0]!.behind === 0;
}
