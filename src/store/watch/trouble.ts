/** The watchman's look at what has gone wrong already: shards in trouble, failures, the backlog. */
import type { Queryable } from "../database.ts";

export interface ShardTrouble {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
  readonly leaseExpirations: number;
  readonly node: string | null;
  readonly ownerLeaseUntil: Date | null;
}

/** Shards whose owner's lease has ended, and those tried at least so often. */
export async function readShardTrouble(db: Queryable, now: Date, attempts: number): Promise<ShardTrouble[]> {
  const { rows } = await db.query<ShardTrouble>(
    `SELECT l.job_id AS "jobId", l.fire_time AS "fireTime", l.shard_no AS "shardNo", l.attempt, x.node,
       x.lease_until AS "ownerLeaseUntil",
       CASE WHEN l.attempt < $2 THEN 0 ELSE (
         SELECT count(*)::integer FROM escapement.shard_attempt a WHERE a.job_id = l.job_id AND a.fire_time = l.fire_time
           AND a.shard_no = l.shard_no AND a.outcome = 'lease-expired') END AS "leaseExpirations"
     FROM escapement.shard_live l LEFT JOIN escapement.executor x ON x.incarnation = l.owner
     WHERE x.lease_until < $1 OR l.attempt >= $2
     ORDER BY l.job_id, l.fire_time, l.shard_no LIMIT 5000`,
    [now, attempts],
  );
  return rows;
}

export interface FailedView {
  readonly dedupKey: string;
  readonly jobId: number;
  readonly fireTime: Date;
  readonly at: Date;
  readonly message: string;
}

/**
 * Executions that the store has given up since then, and that nobody has run
 * again. The store notes them under a key of its own, by which they are found;
 * what is known of them is read from the records, since the watchman itself
 * writes into the note.
 */
export async function readFailed(db: Queryable, since: Date): Promise<FailedView[]> {
  const { rows } = await db.query<FailedView>(
    `SELECT a.dedup_key AS "dedupKey", a.job_id AS "jobId", a.fire_time AS "fireTime", e.actual_end_time AS at,
       concat_ws(': ', coalesce(e.reason, 'no reason given'), (
         SELECT min(s.error) FROM escapement.shard s
         WHERE s.job_id = a.job_id AND s.fire_time = a.fire_time AND s.status = 'failed')) AS message
     FROM (SELECT dedup_key, job_id, fire_time FROM escapement.alert_outbox
           WHERE dedup_key LIKE 'shard-failed:%' AND last_at >= $1 AND job_id IS NOT NULL AND fire_time IS NOT NULL
           ORDER BY last_at DESC LIMIT 5000) a
     CROSS JOIN LATERAL (SELECT status, reason, actual_end_time FROM escapement.execution e
                         WHERE e.job_id = a.job_id AND e.fire_time = a.fire_time LIMIT 1) e
     WHERE e.status = 'failed' AND e.actual_end_time >= $1`,
    [since],
  );
  return rows;
}

/** Shards that wait and run now, and by how much the oldest waiting one is late. */
export async function readBacklogSample(
  db: Queryable,
  now: Date,
): Promise<{ pendingShards: number; runningShards: number; mostLateMs: number }> {
  const { rows } = await db.query<{ pendingShards: number; runningShards: number; mostLateMs: number }>(
    `SELECT count(*) FILTER (WHERE owner IS NULL AND run_after <= $1)::integer AS "pendingShards",
       count(*) FILTER (WHERE owner IS NOT NULL)::integer AS "runningShards",
       coalesce(extract(epoch FROM $1 - min(run_after) FILTER (WHERE owner IS NULL AND run_after <= $1)) * 1000, 0)::double precision AS "mostLateMs"
     FROM escapement.shard_live`,
    [now],
  );
  return rows[0]!;
}
