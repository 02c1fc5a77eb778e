/** How long jobs take by the records, and on which days they took longest. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface DurationRow {
  readonly jobId: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The fire that took longest. */
  readonly maxAt: Date;
  /** Successes of the last or the first day of a month, by the calendar of the job's zone. */
  readonly monthEnds: number;
  readonly first: Date;
  readonly last: Date;
}

/**
 * Of every job's successes since. Left out are reruns, which count from their
 * first start, and what a drill may have held up: it was slow on purpose.
 */
export function readDurations(db: Queryable, from: Date): Promise<Look<DurationRow>> {
  return look<DurationRow>(
    db,
    `WITH zones AS MATERIALIZED (
       -- Once a job: unpacking a definition for every row would take most of the time.
       SELECT j.job_id, v.definition ->> 'timeZone' AS zone FROM escapement.job j
       JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version WHERE j.state <> 'deleted')
     SELECT job_id AS "jobId", count, p[1] AS "p50Ms", p[2] AS "p99Ms", longest[1] AS "maxMs",
       to_timestamp(longest[2] / 1000.0) AS "maxAt", month_ends AS "monthEnds", first, last
     FROM (
       SELECT job_id, count(*) AS count, percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY duration_ms) AS p,
         -- Arrays are compared element by element: the longest, and of those the latest.
         max(ARRAY[duration_ms, (extract(epoch FROM fire_time) * 1000)::bigint]) AS longest,
         min(fire_time) AS first, max(fire_time) AS last,
         count(*) FILTER (WHERE extract(day FROM local) = 1 OR extract(day FROM local + interval '1 day') = 1) AS month_ends
       FROM (
         SELECT e.job_id, e.fire_time, e.duration_ms, e.fire_time AT TIME ZONE z.zone AS local
         FROM escapement.execution e JOIN zones z ON z.job_id = e.job_id
         WHERE e.status = 'success' AND e.run_no = 1 AND e.duration_ms IS NOT NULL AND e.fire_time >= $1
           AND NOT EXISTS (SELECT 1 FROM escapement.drill_run d WHERE d.fault_at < e.actual_end_time
                           AND coalesce(d.ended_at, 'infinity') > e.actual_start_time)) done
       GROUP BY job_id) per_job`,
    [from],
  );
}
