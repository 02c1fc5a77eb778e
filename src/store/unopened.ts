/** Ending an execution that was planned and never opened. */
import type { Queryable } from "./database.ts";

/**
 * Ends an execution that was never opened. Its period is free again, and its
 * shard rows go, since none of them ever ran; a rerun inserts them anew.
 * An execution that has run before (a rerun) keeps what it has.
 */
export async function endUnopened(
  tx: Queryable,
  jobId: number,
  fireTime: Date,
  status: "missed" | "blocked" | "cancelled",
  reason: string,
): Promise<void> {
  await tx.query(
    `WITH gone AS (
       DELETE FROM escapement.execution_live WHERE job_id = $1 AND fire_time = $2 AND state IN ('planned', 'held') RETURNING fire_time
     ), fresh AS (
       SELECT e.fire_time FROM escapement.execution e JOIN gone g ON g.fire_time = e.fire_time
       WHERE e.job_id = $1 AND e.fire_time = $2 AND e.opened_at IS NULL
     ), shards AS (
       DELETE FROM escapement.shard s USING fresh f WHERE s.job_id = $1 AND s.fire_time = f.fire_time AND s.fire_time = $2
     ), period AS (
       DELETE FROM escapement.job_period p USING fresh f WHERE p.job_id = $1 AND p.fire_time = f.fire_time
     )
     UPDATE escapement.execution e SET status = $3, reason = $4,
       period_key = CASE WHEN e.opened_at IS NULL THEN NULL ELSE e.period_key END
     FROM gone g WHERE e.job_id = $1 AND e.fire_time = $2 AND e.fire_time = g.fire_time`,
    [jobId, fireTime, status, reason],
  );
}
