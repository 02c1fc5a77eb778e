/** One execution and its shards, page by page, by primary key. */
import type { Queryable } from "../database.ts";
import type { ShardRow } from "../shard.ts";

export interface ShardLook {
  readonly shardNo: number;
  readonly status: ShardRow["status"];
  readonly attempt: number;
  /** Node name of the executor that holds or held it. */
  readonly owner: string | null;
  readonly startTime: Date | null;
  readonly endTime: Date | null;
  readonly rows: number | null;
  readonly error: string | null;
}

/** The shards above the given number; −1 is the step that freezes the input, so begin with −2. */
export async function shardsAfter(
  db: Queryable,
  jobId: number,
  fireTime: Date,
  afterShardNo: number,
  limit: number,
): Promise<ShardLook[]> {
  const { rows } = await db.query<ShardLook>(
    // The page is cut first: joined before, the planner would read the whole execution.
    `SELECT s.shard_no AS "shardNo",
       CASE WHEN l.owner IS NOT NULL THEN 'running' WHEN l.interrupted THEN 'interrupted' ELSE s.status END AS status,
       coalesce(l.attempt, s.attempt) AS attempt, x.node AS owner, coalesce(l.start_time, s.start_time) AS "startTime",
       s.end_time AS "endTime", coalesce(c.rows, s.rows) AS rows, left(s.error, 300) AS error
     FROM (SELECT * FROM escapement.shard WHERE job_id = $1 AND fire_time = $2 AND shard_no > $3 ORDER BY shard_no LIMIT $4) s
     LEFT JOIN LATERAL (SELECT * FROM escapement.shard_live l WHERE l.job_id = s.job_id AND l.fire_time = s.fire_time AND l.shard_no = s.shard_no LIMIT 1) l ON true
     LEFT JOIN LATERAL (SELECT c.rows FROM escapement.shard_checkpoint c WHERE c.job_id = s.job_id AND c.fire_time = s.fire_time AND c.shard_no = s.shard_no LIMIT 1) c ON true
     LEFT JOIN escapement.executor x ON x.incarnation = coalesce(l.owner, s.owner)
     ORDER BY s.shard_no`,
    [jobId, fireTime, afterShardNo, limit],
  );
  return rows;
}

export interface AttemptLook {
  readonly attempt: number;
  readonly outcome: string;
  readonly owner: string | null;
  readonly startTime: Date | null;
  readonly endTime: Date;
  readonly exitCode: number | null;
  readonly error: string | null;
}

/** The attempts of one shard that did not succeed, latest first. */
export async function attemptsOf(
  db: Queryable,
  jobId: number,
  fireTime: Date,
  shardNo: number,
): Promise<AttemptLook[]> {
  const { rows } = await db.query<AttemptLook>(
    `SELECT a.attempt, a.outcome, x.node AS owner, a.start_time AS "startTime", a.end_time AS "endTime", a.exit_code AS "exitCode",
       left(a.error, 300) AS error
     FROM escapement.shard_attempt a LEFT JOIN escapement.executor x ON x.incarnation = a.owner
     WHERE a.job_id = $1 AND a.fire_time = $2 AND a.shard_no = $3 ORDER BY a.attempt DESC LIMIT 20`,
    [jobId, fireTime, shardNo],
  );
  return rows;
}
