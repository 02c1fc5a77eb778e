/** Finding out what became of a statement whose answer was lost on the way. */
import type { AttemptEnd } from "./completion.ts";
import type { Queryable } from "./database.ts";

/**
 * Which of these outcomes the records already hold, each under the fence token of its claim.
 * @returns for each outcome, in order, whether it is written.
 */
export async function areOutcomesWritten(db: Queryable, ends: readonly AttemptEnd[]): Promise<boolean[]> {
  if (ends.length === 0) return [];
  const { rows } = await db.query<{ position: number }>(
    `SELECT w.position::integer AS position
     FROM unnest($1::integer[], $2::timestamptz[], $3::integer[], $4::bigint[], $5::text[])
       WITH ORDINALITY AS w(job_id, fire_time, shard_no, token, outcome, position)
     WHERE EXISTS (SELECT 1 FROM escapement.shard s
             WHERE s.job_id = w.job_id AND s.fire_time = w.fire_time AND s.shard_no = w.shard_no
               AND s.fence_token = w.token AND s.status = w.outcome)
        OR EXISTS (SELECT 1 FROM escapement.shard_attempt a
             WHERE a.job_id = w.job_id AND a.fire_time = w.fire_time AND a.shard_no = w.shard_no
               AND a.fence_token = w.token AND a.outcome = w.outcome)`,
    [
      ends.map((end) => end.jobId),
      ends.map((end) => end.fireTime),
      ends.map((end) => end.shardNo),
      ends.map((end) => end.fenceToken),
      ends.map((end) => end.outcome),
    ],
  );
  const written = new Set(rows.map((row) => row.position));
  return ends.map((_, index) => written.has(index + 1));
}
