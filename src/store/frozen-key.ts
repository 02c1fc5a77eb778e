/** The business keys of an execution whose input is frozen before its first shard runs. */
import type { Queryable } from "./database.ts";
import type { FencedShard, ShardKey } from "./shard-key.ts";

/**
 * Freezes the keys of an execution: spreads them over `shardCount` shards by hash.
 * Doing it again (a second attempt of the freezing step) replaces the set, as
 * long as the claim still holds; afterwards the set never changes.
 * @returns false, and records a stale write, when the claim is no longer held or its executor's lease has ended.
 */
export async function freezeKeys(
  db: Queryable,
  incarnation: string,
  claim: FencedShard,
  shardCount: number,
  keys: readonly string[],
): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    `WITH held AS MATERIALIZED (
       SELECT l.job_id, l.fire_time FROM escapement.shard_live l
       WHERE l.job_id = $1 AND l.fire_time = $2 AND l.shard_no = -1 AND l.owner = $3 AND l.fence_token = $4
         AND (l.continue_fenced OR EXISTS (
           SELECT 1 FROM escapement.executor x WHERE x.incarnation = $3 AND x.lease_until > clock_timestamp()))
       FOR UPDATE
     ), stale AS (
       INSERT INTO escapement.stale_write (job_id, fire_time, shard_no, owner, fence_token, what)
       SELECT $1, $2, -1, $3, $4, 'freeze' WHERE NOT EXISTS (SELECT 1 FROM held)
     ), gone AS (
       DELETE FROM escapement.frozen_key k USING held h
       WHERE k.job_id = h.job_id AND k.fire_time = h.fire_time AND NOT k.key = ANY ($6::text[])
     ), frozen AS (
       INSERT INTO escapement.frozen_key (job_id, fire_time, shard_no, key)
       SELECT h.job_id, h.fire_time, escapement.shard_of(w.key, $5), w.key FROM held h, (SELECT DISTINCT unnest($6::text[]) AS key) w
       ON CONFLICT DO NOTHING
     )
     SELECT EXISTS (SELECT 1 FROM held) AS held`,
    [claim.jobId, claim.fireTime, incarnation, claim.fenceToken, shardCount, keys],
  );
  return rows[0]?.held === true;
}

/** The frozen keys of one shard, sorted. */
export async function frozenKeysOf(db: Queryable, shard: ShardKey): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    "SELECT key FROM escapement.frozen_key WHERE job_id = $1 AND fire_time = $2 AND shard_no = $3 ORDER BY key",
    [shard.jobId, shard.fireTime, shard.shardNo],
  );
  return rows.map((row) => row.key);
}
