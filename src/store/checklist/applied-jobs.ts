/** The policies that are in force: of every job's version as the store has it. */
import { timetableNamespace, timetableVariable } from "../../spec/drill-schedule-definition.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../database.ts";
import { probeNamespace } from "../drill/drill-sample.ts";
import { type Look, look } from "./look.ts";

export interface AppliedJob {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly state: "active" | "paused";
  /** A job of no file, by what brought it: a drill that is on or its timetable. Null: somebody who must have a file. */
  readonly madeBy: "drill" | "timetable" | null;
  readonly version: number;
  readonly digest: string;
  readonly effectiveFrom: Date;
  readonly timeZone: string;
  readonly blocking: JobDefinition["blocking"];
  readonly misfire: JobDefinition["misfire"];
  readonly catchUp: JobDefinition["catchUp"];
  /** When it fires. */
  readonly fires: AppliedSchedule;
}

/** What a schedule is compiled from. */
export type AppliedSchedule = Pick<JobDefinition, "schedule" | "timeZone" | "dstGap" | "dstOverlap">;

/** As an object of SQL. @param definition the column, or an expression for it */
export function scheduleOf(definition: string): string {
  return `jsonb_build_object('schedule', ${definition} -> 'schedule', 'timeZone', ${definition} -> 'timeZone')
         || jsonb_strip_nulls(jsonb_build_object('dstGap', ${definition} -> 'dstGap', 'dstOverlap', ${definition} -> 'dstOverlap'))`;
}

/** Every job that is not deleted, in one statement. A job in the namespace of timetables is of one when it carries its text. */
export function readAppliedJobs(db: Queryable): Promise<Look<AppliedJob>> {
  return look<AppliedJob>(
    db,
    `SELECT j.job_id AS "jobId", j.namespace || '/' || j.name AS job, j.state, j.version, v.digest,
       v.effective_from AS "effectiveFrom", v.definition ->> 'timeZone' AS "timeZone", v.definition -> 'blocking' AS blocking, v.definition -> 'misfire' AS misfire,
       v.definition -> 'catchUp' AS "catchUp",
       CASE WHEN j.namespace = $1 THEN 'drill' WHEN j.namespace = $2 AND v.definition -> 'environment' ? $3 THEN 'timetable' END AS "madeBy",
       ${scheduleOf("v.definition")} AS fires
     FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version
     WHERE j.state <> 'deleted' ORDER BY 2`,
    [probeNamespace, timetableNamespace, timetableVariable],
  );
}

export interface MisfireCounts {
  readonly jobId: number;
  /** Fires that were late and ran all the same. */
  readonly ranLate: number;
  readonly missed: number;
}

/** What became of late fires under the version in force. */
export function readMisfireCounts(db: Queryable, from: Date, to: Date): Promise<Look<MisfireCounts>> {
  return look<MisfireCounts>(
    db,
    `SELECT e.job_id AS "jobId", count(*) FILTER (WHERE e.trigger_type = 'misfire' AND e.status <> 'missed') AS "ranLate",
       count(*) FILTER (WHERE e.status = 'missed') AS missed
     FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id AND j.version = e.job_version
     WHERE e.fire_time BETWEEN $1 AND $2 AND (e.trigger_type = 'misfire' OR e.status = 'missed')
     GROUP BY e.job_id`,
    [from, to],
  );
}

export interface Overlap {
  readonly jobId: number;
  readonly count: number;
  readonly fireTime: Date;
}

/**
 * Executions that began while one of the same job was not over, although the
 * version they were planned with says `queue` or `forbid`. Reruns keep the
 * start of their first run and would look as if they overlapped.
 */
export function readOverlaps(db: Queryable, from: Date, to: Date): Promise<Look<Overlap>> {
  return look<Overlap>(
    db,
    `WITH policies AS MATERIALIZED (
       SELECT job_id, version, definition -> 'blocking' ->> 'policy' AS policy FROM escapement.job_version)
     SELECT job_id AS "jobId", count(*) AS count, min(fire_time) AS "fireTime" FROM (
       SELECT e.job_id, e.fire_time, e.actual_start_time, v.policy,
         max(coalesce(e.actual_end_time, 'infinity')) OVER (PARTITION BY e.job_id ORDER BY e.actual_start_time, e.fire_time
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until
       FROM escapement.execution e JOIN policies v ON v.job_id = e.job_id AND v.version = e.job_version
       WHERE e.fire_time BETWEEN $1 AND $2 AND e.actual_start_time IS NOT NULL AND e.run_no = 1) o
     WHERE o.policy IN ('queue', 'forbid') AND o.busy_until > o.actual_start_time
     GROUP BY job_id`,
    [from, to],
  );
}

/** As many are counted as it takes to say that there is something to look at. */
export const startedEnough = 1_000;

/** How many executions have begun, up to {@link startedEnough}: of none, nothing can be said about overlaps. */
export function readStarted(
  db: Queryable,
  from: Date,
  to: Date,
): Promise<Look<{ readonly started: number }>> {
  return look<{ readonly started: number }>(
    db,
    `SELECT count(*) AS started FROM (SELECT 1 FROM escapement.execution
     WHERE fire_time BETWEEN $1 AND $2 AND actual_start_time IS NOT NULL AND run_no = 1 LIMIT ${startedEnough}) s`,
    [from, to],
  );
}
