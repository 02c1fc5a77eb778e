/** The finished runs of a job, as a live record store has them. */
import type { RunRecord } from "../../capacity/peak/run-record.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { type StoreOptions, withStore } from "../store-url.ts";

export interface RecordedRuns {
  readonly runs: readonly RunRecord[];
  readonly timeZone: string;
  /** Shortest time between two fires of the schedule; undefined for a job that only people run. */
  readonly periodMs: number | undefined;
}

/** @throws E_JOB_UNKNOWN, E_STORE_URL_MISSING, E_STORE_UNAVAILABLE */
export async function readRecordedRuns(options: StoreOptions, job: string): Promise<RecordedRuns> {
  const { requireJob } = await import("../../store/job.ts");
  return withStore(options, async (db) => {
    const { jobId, definition } = await requireJob(db, job);
    const { rows } = await db.query<{ fireTime: Date; durationMs: number; rows: number }>(
      `SELECT e.fire_time AS "fireTime", e.duration_ms AS "durationMs", coalesce(s.rows, 0)::bigint AS rows
       FROM escapement.execution e
       CROSS JOIN LATERAL (SELECT sum(s.rows) AS rows FROM escapement.shard s
                           WHERE s.job_id = e.job_id AND s.fire_time = e.fire_time) s
       WHERE e.job_id = $1 AND e.status = 'success' AND e.duration_ms IS NOT NULL ORDER BY e.fire_time`,
      [jobId],
    );
    return { runs: rows, timeZone: definition.timeZone, periodMs: await shortestGap(definition) };
  });
}

/** So many coming fires are looked at: a year of daily ones, a month end and both changes of the clocks. */
const firesLookedAt = 400;

/** Milliseconds between the two coming fires that lie closest together. */
export async function shortestGap(definition: JobDefinition): Promise<number | undefined> {
  const { jobSchedule } = await import("../../schedule/job-schedule.ts");
  const schedule = jobSchedule(definition);
  if (!schedule) return undefined;
  let shortest: number | undefined;
  let before = schedule.next(Date.now());
  for (let i = 0; i < firesLookedAt && before !== null; i++) {
    const after = schedule.next(before);
    if (after === null) break;
    shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, after - before);
    before = after;
  }
  return shortest;
}
