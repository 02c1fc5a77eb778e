/** Ending attempts, in batches, each outcome with the fence token of its claim. */
import type { Queryable } from "./database.ts";
import type { FencedShard } from "./shard-key.ts";

/**
 *   success | failed | cancelled   end the shard
 *   retry | interrupted            put it back: retry counts as a try, interrupted does not
 */
export type AttemptOutcome = "success" | "failed" | "cancelled" | "retry" | "interrupted";

export interface AttemptEnd extends FencedShard {
  readonly outcome: AttemptOutcome;
  /** How long a retry waits; 0 for the others. */
  readonly delayMs: number;
  /** Rows the child reported. */
  readonly rows: number | null;
  readonly exitCode: number | null;
  /** One line: why it did not succeed. */
  readonly error: string | null;
}

/**
 * Writes the outcomes in one statement. One whose claim is no longer held, or
 * whose executor's lease has ended, changes nothing and is recorded as a stale write.
 * @returns for each outcome, in order, whether it was accepted.
 */
export async function completeAttempts(
  db: Queryable,
  incarnation: string,
  ends: readonly AttemptEnd[],
): Promise<boolean[]> {
  if (ends.length === 0) return [];
  const { rows } = await db.query<{ refused: number[] }>(
    `SELECT escapement.complete($1, $2::integer[], $3::timestamptz[], $4::integer[], $5::bigint[], $6::text[], $7::bigint[],
       $8::bigint[], $9::integer[], $10::text[]) AS refused`,
    [
      incarnation,
      ends.map((end) => end.jobId),
      ends.map((end) => end.fireTime),
      ends.map((end) => end.shardNo),
      ends.map((end) => end.fenceToken),
      ends.map((end) => end.outcome),
      ends.map((end) => Math.round(end.delayMs)),
      ends.map((end) => end.rows),
      ends.map((end) => end.exitCode),
      ends.map((end) => end.error),
    ],
  );
  const refused = new Set(rows[0]?.refused ?? []);
  return ends.map((_, index) => !refused.has(index + 1));
}

/** Keeps a shard's place for its next attempt. Returns false, and records it, when the claim is no longer held. */
export async function saveCheckpoint(
  db: Queryable,
  incarnation: string,
  shard: FencedShard,
  data: string | null,
  rowsDone: number | null,
): Promise<boolean> {
  const { rows } = await db.query<{ kept: boolean }>(
    "SELECT escapement.checkpoint($1, $2, $3, $4, $5, $6, $7) AS kept",
    [incarnation, shard.jobId, shard.fireTime, shard.shardNo, shard.fenceToken, data, rowsDone],
  );
  return rows[0]?.kept === true;
}

/** The place an earlier attempt kept, or null. */
export async function readCheckpoint(
  db: Queryable,
  shard: Pick<FencedShard, "jobId" | "fireTime" | "shardNo">,
): Promise<{ data: string | null; rows: number | null } | null> {
  const { rows } = await db.query<{ data: string | null; rows: number | null }>(
    "SELECT data, rows FROM escapement.shard_checkpoint WHERE job_id = $1 AND fire_time = $2 AND shard_no = $3",
    [shard.jobId, shard.fireTime, shard.shardNo],
  );
  return rows[0] ?? null;
}
