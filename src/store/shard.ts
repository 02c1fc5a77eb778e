/** Reading shards: the record, with what is live laid over it. */
import type { Queryable } from "./database.ts";

export interface ShardRow {
  readonly shardNo: number;
  readonly status: "pending" | "running" | "success" | "failed" | "interrupted" | "cancelled";
  readonly attempt: number;
  /** Node name of the executor that holds or held it. */
  readonly owner: string | null;
  readonly fenceToken: number | null;
  readonly runAfter: Date | null;
  readonly startTime: Date | null;
  readonly endTime: Date | null;
  readonly rows: number | null;
  readonly error: string | null;
}

/** The shards of one execution, by number. −1 is the step that freezes the input. */
export async function listShards(db: Queryable, jobId: number, fireTime: Date): Promise<ShardRow[]> {
  const { rows } = await db.query<ShardRow>(
    `SELECT s.shard_no AS "shardNo",
       CASE WHEN l.owner IS NOT NULL THEN 'running' WHEN l.interrupted THEN 'interrupted' ELSE s.status END AS status,
       coalesce(l.attempt, s.attempt) AS attempt, x.node AS owner, coalesce(l.fence_token, s.fence_token) AS "fenceToken",
       l.run_after AS "runAfter", coalesce(l.start_time, s.start_time) AS "startTime", s.end_time AS "endTime",
       coalesce(c.rows, s.rows) AS rows, s.error
     FROM escapement.shard s
     LEFT JOIN escapement.shard_live l ON l.job_id = s.job_id AND l.fire_time = s.fire_time AND l.shard_no = s.shard_no
     LEFT JOIN escapement.shard_checkpoint c ON c.job_id = s.job_id AND c.fire_time = s.fire_time AND c.shard_no = s.shard_no
     LEFT JOIN escapement.executor x ON x.incarnation = coalesce(l.owner, s.owner)
     WHERE s.job_id = $1 AND s.fire_time = $2 ORDER BY s.shard_no`,
    [jobId, fireTime],
  );
  return rows;
}

export interface AttemptRow {
  readonly shardNo: number;
  readonly attempt: number;
  readonly outcome: "failed" | "retry" | "interrupted" | "lease-expired" | "cancelled";
  readonly owner: string | null;
  readonly startTime: Date | null;
  readonly endTime: Date;
  readonly exitCode: number | null;
  readonly error: string | null;
}

/** The attempts of one execution that did not succeed, in order. */
export async function listAttempts(db: Queryable, jobId: number, fireTime: Date): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>(
    `SELECT a.shard_no AS "shardNo", a.attempt, a.outcome, x.node AS owner, a.start_time AS "startTime", a.end_time AS "endTime",
       a.exit_code AS "exitCode", a.error
     FROM escapement.shard_attempt a LEFT JOIN escapement.executor x ON x.incarnation = a.owner
     WHERE a.job_id = $1 AND a.fire_time = $2 ORDER BY a.shard_no, a.attempt`,
    [jobId, fireTime],
  );
  return rows;
}
