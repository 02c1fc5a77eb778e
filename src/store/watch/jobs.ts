/** The watchman's look at jobs: state and cursor each pass, definitions once, pauses as they are recorded. */
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../database.ts";

export interface WatchedJobRow {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly state: "active" | "paused";
  readonly stateSince: Date;
  readonly version: number;
  readonly knownSince: Date;
  readonly plannedUntil: Date;
}

/** All jobs that are not deleted. */
export async function readWatchedJobs(db: Queryable): Promise<WatchedJobRow[]> {
  const { rows } = await db.query<WatchedJobRow>(
    `SELECT job_id AS "jobId", namespace || '/' || name AS job, state, state_since AS "stateSince", version,
       known_since AS "knownSince", planned_until AS "plannedUntil"
     FROM escapement.job WHERE state <> 'deleted' ORDER BY job_id`,
  );
  return rows;
}

export type DefinitionPart = Pick<
  JobDefinition,
  "schedule" | "timeZone" | "dstGap" | "dstOverlap" | "misfire" | "blocking" | "timeoutMs" | "leaseMs"
>;

export interface VersionRow {
  readonly jobId: number;
  readonly version: number;
  readonly digest: string;
  readonly effectiveFrom: Date;
  readonly appliedBy: string;
  /** Only what decides when it fires and what it owes. */
  readonly definition: DefinitionPart & { readonly retry: { readonly maxAttempts: number } };
}

/** The versions of jobs above the given ones, oldest first. A version never changes. */
export async function readVersionsAfter(
  db: Queryable,
  known: readonly { readonly jobId: number; readonly version: number }[],
): Promise<VersionRow[]> {
  if (known.length === 0) return [];
  const parts = [
    "schedule",
    "timeZone",
    "dstGap",
    "dstOverlap",
    "misfire",
    "blocking",
    "timeoutMs",
    "leaseMs",
    "retry",
  ];
  const picked = parts.map((part) => `'${part}', v.definition -> '${part}'`).join(", ");
  const { rows } = await db.query<VersionRow>(
    `SELECT v.job_id AS "jobId", v.version, v.digest, v.effective_from AS "effectiveFrom", v.applied_by AS "appliedBy",
       jsonb_strip_nulls(jsonb_build_object(${picked})) AS definition
     FROM unnest($1::integer[], $2::integer[]) AS w(job_id, version)
     JOIN escapement.job_version v ON v.job_id = w.job_id AND v.version > w.version
     ORDER BY v.job_id, v.version`,
    [known.map(({ jobId }) => jobId), known.map(({ version }) => version)],
  );
  return rows;
}

/** The digests as they stand in the records, to be compared with the watchman's own copy. */
export async function readDigests(
  db: Queryable,
): Promise<{ readonly jobId: number; readonly version: number; readonly digest: string }[]> {
  const { rows } = await db.query<{ jobId: number; version: number; digest: string }>(
    `SELECT v.job_id AS "jobId", v.version, v.digest FROM escapement.job j
     JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version WHERE j.state <> 'deleted'`,
  );
  return rows;
}

export interface StateChange {
  readonly operationId: number;
  readonly at: Date;
  readonly jobId: number;
  readonly action: "jobs pause" | "jobs resume" | "jobs delete";
}

/** Pauses and their ends recorded after the given operation, oldest first. */
export async function readStateChanges(db: Queryable, afterOperationId: number): Promise<StateChange[]> {
  const { rows } = await db.query<StateChange>(
    `SELECT operation_id AS "operationId", at, job_id AS "jobId", action FROM escapement.operation
     WHERE operation_id > $1 AND action IN ('jobs pause', 'jobs resume', 'jobs delete') AND job_id IS NOT NULL
     ORDER BY operation_id`,
    [afterOperationId],
  );
  return rows;
}
