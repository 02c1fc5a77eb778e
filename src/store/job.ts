/** Jobs as the store knows them: identity, state, cursor, and the definition in force. */

import { EscapementError } from "../base/errors.ts";
import { closest } from "../spec/closest.ts";
import type { JobDefinition } from "../spec/job-definition.ts";
import type { Queryable } from "./database.ts";

export type JobState = "active" | "paused" | "deleted";

export interface JobRow {
  readonly jobId: number;
  readonly namespace: string;
  readonly name: string;
  readonly state: JobState;
  readonly stateReason: string | null;
  readonly stateSince: Date;
  readonly version: number;
  readonly digest: string;
  readonly knownSince: Date;
  readonly plannedUntil: Date;
  readonly definition: JobDefinition;
}

const columns = `j.job_id AS "jobId", j.namespace, j.name, j.state, j.state_reason AS "stateReason", j.state_since AS "stateSince",
  j.version, v.digest, j.known_since AS "knownSince", j.planned_until AS "plannedUntil", v.definition`;
const source =
  "escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version";

/** All jobs by name; deleted ones only when asked for. */
export async function listJobs(db: Queryable, options: { deleted?: boolean } = {}): Promise<JobRow[]> {
  const { rows } = await db.query<JobRow>(
    `SELECT ${columns} FROM ${source} WHERE $1 OR j.state <> 'deleted' ORDER BY j.namespace, j.name`,
    [options.deleted ?? false],
  );
  return rows;
}

/** One job by `namespace/name`, or by name alone in the namespace `default`; null when there is none. */
export async function findJob(db: Queryable, job: string): Promise<JobRow | null> {
  const { namespace, name } = splitJobName(job);
  const { rows } = await db.query<JobRow>(
    `SELECT ${columns} FROM ${source} WHERE j.namespace = $1 AND j.name = $2`,
    [namespace, name],
  );
  return rows[0] ?? null;
}

/** Like {@link findJob}. @throws E_JOB_UNKNOWN with the nearest name */
export async function requireJob(db: Queryable, job: string): Promise<JobRow> {
  const found = await findJob(db, job);
  if (found) return found;
  const { rows } = await db.query<{ name: string }>(
    "SELECT CASE namespace WHEN 'default' THEN name ELSE namespace || '/' || name END AS name FROM escapement.job",
  );
  const near = closest(
    job,
    rows.map((row) => row.name),
  );
  throw new EscapementError("E_JOB_UNKNOWN", { job, suggestion: near ? `; did you mean ${near}?` : "" });
}

/** `pay/bonus` is job bonus in namespace pay; `bonus` is in namespace default. */
export function splitJobName(job: string): { namespace: string; name: string } {
  const slash = job.indexOf("/");
  return slash < 0
    ? { namespace: "default", name: job }
    : { namespace: job.slice(0, slash), name: job.slice(slash + 1) };
}

/** The way people read a job's name: without the namespace when it is `default`. */
export function jobLabel(job: { readonly namespace: string; readonly name: string }): string {
  return job.namespace === "default" ? job.name : `${job.namespace}/${job.name}`;
}
