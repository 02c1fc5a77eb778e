/** Reading executions: what should have run, what did, when and why not. */
import type { Queryable } from "./database.ts";

export type ExecutionStatus =
  | "planned"
  | "pending"
  | "running"
  | "success"
  | "failed"
  | "interrupted"
  | "missed"
  | "blocked"
  | "cancelled";

/** An execution that will change no more by itself. */
export const endedStatuses: readonly ExecutionStatus[] = [
  "success",
  "failed",
  "missed",
  "blocked",
  "cancelled",
];

export interface ExecutionRow {
  readonly jobId: number;
  readonly namespace: string;
  readonly name: string;
  readonly fireTime: Date;
  readonly executionId: string;
  readonly runNo: number;
  readonly triggerType: "schedule" | "misfire" | "manual";
  readonly status: ExecutionStatus;
  readonly periodKey: string | null;
  readonly jobVersion: number;
  readonly shardCount: number;
  readonly openedAt: Date | null;
  readonly actualStartTime: Date | null;
  readonly actualEndTime: Date | null;
  readonly durationMs: number | null;
  readonly missedSeconds: number | null;
  readonly epoch: number | null;
  readonly reason: string | null;
}

const columns = `e.job_id AS "jobId", j.namespace, j.name, e.fire_time AS "fireTime", e.execution_id AS "executionId", e.run_no AS "runNo",
  e.trigger_type AS "triggerType", e.status, e.period_key AS "periodKey", e.job_version AS "jobVersion", e.shard_count AS "shardCount",
  e.opened_at AS "openedAt", e.actual_start_time AS "actualStartTime", e.actual_end_time AS "actualEndTime",
  e.duration_ms AS "durationMs", e.missed_seconds AS "missedSeconds", e.epoch, e.reason`;

export interface ExecutionFilter {
  readonly jobId?: number;
  readonly from?: Date;
  readonly to?: Date;
  readonly statuses?: readonly ExecutionStatus[];
  /** Default 100. */
  readonly limit?: number;
  /** Default newest first. */
  readonly oldestFirst?: boolean;
}

/** Executions by fire time. Revoked ones, which never came due, are left out. */
export async function listExecutions(db: Queryable, filter: ExecutionFilter = {}): Promise<ExecutionRow[]> {
  const { rows } = await db.query<ExecutionRow>(
    `SELECT ${columns} FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id
     WHERE e.revoked_at IS NULL AND ($1::integer IS NULL OR e.job_id = $1)
       AND e.fire_time >= coalesce($2::timestamptz, '-infinity') AND e.fire_time <= coalesce($3::timestamptz, 'infinity')
       AND ($4::text[] IS NULL OR e.status = ANY ($4))
     ORDER BY e.fire_time ${filter.oldestFirst ? "" : "DESC"}, j.namespace, j.name LIMIT $5`,
    [
      filter.jobId ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.statuses ?? null,
      filter.limit ?? 100,
    ],
  );
  return rows;
}

/** One execution, or null. */
export async function findExecution(
  db: Queryable,
  jobId: number,
  fireTime: Date,
): Promise<ExecutionRow | null> {
  const { rows } = await db.query<ExecutionRow>(
    `SELECT ${columns} FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id
     WHERE e.job_id = $1 AND e.fire_time = $2 AND e.revoked_at IS NULL`,
    [jobId, fireTime],
  );
  return rows[0] ?? null;
}
