/** Rehearsals of jobs: kept among what people did by hand, for that is what they are. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export const rehearsalAction = "checklist rehearse";

/** What a rehearsal writes down. */
export interface JobRehearsal {
  readonly verdict: "pass" | "fail" | "unknown";
  readonly reason: string;
  /** Of the definition that was rehearsed. */
  readonly digest: string;
  /** SHA-256 of every source of its effects, by path. */
  readonly sources: Readonly<Record<string, string>>;
  /** Tables that the first run changed, and those that the repeat changed again. */
  readonly changed: readonly string[];
  readonly repeated: readonly string[];
  /** `table.column` that was not compared. */
  readonly ignored?: readonly string[];
}

export interface RehearsalRow {
  readonly jobId: number;
  readonly person: string;
  readonly ageMs: number;
  readonly rehearsal: JobRehearsal;
}

/** The newest rehearsal of every job. */
export function readRehearsals(db: Queryable): Promise<Look<RehearsalRow>> {
  return look<RehearsalRow>(
    db,
    `SELECT DISTINCT ON (job_id) job_id AS "jobId", person, after AS rehearsal,
       (extract(epoch FROM clock_timestamp() - at) * 1000)::double precision AS "ageMs"
     FROM escapement.operation WHERE action = $1 AND job_id IS NOT NULL ORDER BY job_id, at DESC`,
    [rehearsalAction],
  );
}
