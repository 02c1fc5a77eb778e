/** Jobs with everything that has ever decided when they fire. */
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../database.ts";

export interface JobVersionRow {
  readonly version: number;
  readonly digest: string;
  readonly effectiveFrom: Date;
  readonly appliedBy: string;
  readonly definition: JobDefinition;
}

export interface JobOperation {
  readonly at: Date;
  readonly person: string;
  readonly action: string;
  readonly fireTime: Date | null;
  readonly reason: string;
}

export interface FireJob {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly state: "active" | "paused" | "deleted";
  readonly stateSince: Date;
  readonly stateReason: string | null;
  readonly knownSince: Date;
  readonly plannedUntil: Date;
  /** Oldest first. */
  readonly versions: readonly JobVersionRow[];
  /** Oldest first. */
  readonly operations: readonly JobOperation[];
}

/** One job, or all of them; deleted ones, too, when something of them may lie after `from`. */
export async function readFireJobs(
  db: Queryable,
  choice: { readonly jobId?: number; readonly from: Date },
): Promise<FireJob[]> {
  const jobs = await db.query<Omit<FireJob, "versions" | "operations">>(
    `SELECT job_id AS "jobId", namespace || '/' || name AS job, state, state_since AS "stateSince", state_reason AS "stateReason",
       known_since AS "knownSince", planned_until AS "plannedUntil"
     FROM escapement.job WHERE ($1::integer IS NULL AND (state <> 'deleted' OR state_since >= $2)) OR job_id = $1
     ORDER BY namespace, name`,
    [choice.jobId ?? null, choice.from],
  );
  const ids = jobs.rows.map(({ jobId }) => jobId);
  const versions = await db.query<JobVersionRow & { jobId: number }>(
    `SELECT job_id AS "jobId", version, digest, effective_from AS "effectiveFrom", applied_by AS "appliedBy", definition
     FROM escapement.job_version WHERE job_id = ANY ($1::integer[]) ORDER BY job_id, version`,
    [ids],
  );
  const operations = await db.query<JobOperation & { jobId: number }>(
    `SELECT job_id AS "jobId", at, person, action, fire_time AS "fireTime", reason FROM escapement.operation
     WHERE job_id = ANY ($1::integer[]) ORDER BY operation_id`,
    [ids],
  );
  const versionsOf = byJob(versions.rows);
  const operationsOf = byJob(operations.rows);
  return jobs.rows.map((job) => ({
    ...job,
    versions: versionsOf.get(job.jobId) ?? [],
    operations: operationsOf.get(job.jobId) ?? [],
  }));
}

function byJob<Row extends { jobId: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const found = new Map<number, Row[]>();
  for (const row of rows) {
    const list = found.get(row.jobId);
    if (list) list.push(row);
    else found.set(row.jobId, [row]);
  }
  return found;
}
