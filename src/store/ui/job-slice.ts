/**
 * Jobs, and what became of their fires, a slice at a time.
 *
 * A screen must not make the store work: nothing here scans. Jobs come by their
 * key, a few hundred at a time; fires are reached job by job through the primary
 * key, within the bounds of time that the caller gives, which keep all other
 * months out of the plan. The caller makes its slices as small as it takes.
 */
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../database.ts";
import type { ExecutionStatus } from "../execution.ts";

export interface JobLook {
  readonly jobId: number;
  readonly namespace: string;
  readonly name: string;
  /** `deleted`: within the last day; what went wrong before it was is not forgotten. */
  readonly state: "active" | "paused" | "deleted";
  readonly stateReason: string | null;
  readonly stateSince: Date;
  readonly version: number;
  readonly plannedUntil: Date;
}

/** The jobs that follow `afterJobId`, by number. */
export async function jobsAfter(db: Queryable, afterJobId: number, limit: number): Promise<JobLook[]> {
  const { rows } = await db.query<JobLook>(
    `SELECT job_id AS "jobId", namespace, name, state, state_reason AS "stateReason", state_since AS "stateSince", version,
       planned_until AS "plannedUntil"
     FROM escapement.job WHERE job_id > $1 AND (state <> 'deleted' OR state_since > clock_timestamp() - interval '1 day') ORDER BY job_id LIMIT $2`,
    [afterJobId, limit],
  );
  return rows;
}

/** What a list shows of a definition, and what its next fire is computed from. */
export type DefinitionLook = Pick<
  JobDefinition,
  | "schedule"
  | "timeZone"
  | "dstGap"
  | "dstOverlap"
  | "misfire"
  | "blocking"
  | "catchUp"
  | "retry"
  | "resources"
  | "description"
>;

const parts = [
  "schedule",
  "timeZone",
  "dstGap",
  "dstOverlap",
  "misfire",
  "blocking",
  "catchUp",
  "retry",
  "resources",
  "description",
];

/** The given versions of jobs; a version never changes. */
export async function definitionLooks(
  db: Queryable,
  wanted: readonly { readonly jobId: number; readonly version: number }[],
): Promise<{ readonly jobId: number; readonly version: number; readonly definition: DefinitionLook }[]> {
  if (wanted.length === 0) return [];
  const picked = parts.map((part) => `'${part}', v.definition -> '${part}'`).join(", ");
  const { rows } = await db.query<{ jobId: number; version: number; definition: DefinitionLook }>(
    `SELECT v.job_id AS "jobId", v.version, jsonb_strip_nulls(jsonb_build_object(${picked})) AS definition
     FROM unnest($1::integer[], $2::integer[]) AS w(job_id, version)
     JOIN escapement.job_version v ON v.job_id = w.job_id AND v.version = w.version`,
    [wanted.map(({ jobId }) => jobId), wanted.map(({ version }) => version)],
  );
  return rows;
}

/** Fires are counted by quarters of an hour. */
export const binMs = 900_000;

/** What became of the fires of one job in one quarter of an hour. */
export interface FireBin {
  /** Quarter hours since 1970. */
  readonly bin: number;
  readonly done: number;
  readonly running: number;
  /** Due, and not begun. */
  readonly waiting: number;
  readonly failed: number;
  readonly missed: number;
  /** Blocked or cancelled. */
  readonly refused: number;
  /** Of all these, those that began later than the job allows. */
  readonly late: number;
}

export interface FireCounts {
  readonly jobId: number;
  readonly bins: readonly FireBin[];
}

/**
 * Counts fires of jobs that have come due, each from its own floor on.
 * @param from no floor is older; with `to` it bounds which months are looked at
 * @param lateMs for each job, from which lateness on a start counts as late
 */
export async function countFires(
  db: Queryable,
  jobs: readonly { readonly jobId: number; readonly floor: Date; readonly lateMs: number }[],
  from: Date,
  to: Date,
): Promise<FireCounts[]> {
  if (jobs.length === 0) return [];
  const { rows } = await db.query<{ jobId: number; packed: string }>(
    `SELECT w.job_id AS "jobId", string_agg(b.packed, ';') AS packed
     FROM unnest($1::integer[], $2::timestamptz[], $3::double precision[]) AS w(job_id, floor, late)
     CROSS JOIN LATERAL (
       SELECT concat_ws(',', floor(extract(epoch FROM e.fire_time) / ${binMs / 1000})::bigint,
         count(*) FILTER (WHERE e.status = 'success'), count(*) FILTER (WHERE e.status IN ('running', 'interrupted')),
         count(*) FILTER (WHERE e.status IN ('planned', 'pending')), count(*) FILTER (WHERE e.status = 'failed'),
         count(*) FILTER (WHERE e.status = 'missed'), count(*) FILTER (WHERE e.status IN ('blocked', 'cancelled')),
         count(*) FILTER (WHERE e.missed_seconds * 1000 > w.late)) AS packed
       FROM escapement.execution e
       WHERE e.job_id = w.job_id AND e.fire_time >= w.floor AND e.fire_time >= $4 AND e.fire_time <= $5 AND e.revoked_at IS NULL
       GROUP BY floor(extract(epoch FROM e.fire_time) / ${binMs / 1000})) b
     GROUP BY w.job_id`,
    [
      jobs.map(({ jobId }) => jobId),
      jobs.map(({ floor }) => floor),
      jobs.map(({ lateMs }) => lateMs),
      from,
      to,
    ],
  );
  return rows.map(({ jobId, packed }) => ({
    jobId,
    bins: packed.split(";").map((text) => {
      const [bin, done, running, waiting, failed, missed, refused, late] = text.split(",").map(Number) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      return { bin, done, running, waiting, failed, missed, refused, late };
    }),
  }));
}

export interface FireLook {
  readonly fireTime: Date;
  readonly status: ExecutionStatus;
  readonly durationMs: number | null;
  readonly lateMs: number | null;
  /** Cut to 200 characters. */
  readonly reason: string | null;
}

// A reason is what people wrote: without the two characters that part the fields.
const packedFire = `concat_ws(E'\\x1f', (extract(epoch FROM e.fire_time) * 1000)::bigint, e.status, coalesce(e.duration_ms::text, ''),
  coalesce((e.missed_seconds * 1000)::bigint::text, ''), translate(left(coalesce(e.reason, ''), 200), E'\\x1e\\x1f', '  '))`;

/** The latest fires of jobs, each from its own floor on, newest first. */
export async function latestFires(
  db: Queryable,
  jobs: readonly { readonly jobId: number; readonly floor: Date }[],
  from: Date,
  to: Date,
  perJob: number,
): Promise<{ readonly jobId: number; readonly fires: readonly FireLook[] }[]> {
  return readFires(db, jobs, from, to, perJob, "");
}

/** The latest fires that went wrong: failed, missed, blocked or cancelled. */
export async function latestTrouble(
  db: Queryable,
  jobs: readonly { readonly jobId: number; readonly floor: Date }[],
  from: Date,
  to: Date,
  perJob: number,
): Promise<{ readonly jobId: number; readonly fires: readonly FireLook[] }[]> {
  return readFires(
    db,
    jobs,
    from,
    to,
    perJob,
    "AND e.status IN ('failed', 'missed', 'blocked', 'cancelled')",
  );
}

async function readFires(
  db: Queryable,
  jobs: readonly { readonly jobId: number; readonly floor: Date }[],
  from: Date,
  to: Date,
  perJob: number,
  condition: string,
): Promise<{ jobId: number; fires: FireLook[] }[]> {
  if (jobs.length === 0) return [];
  const { rows } = await db.query<{ jobId: number; packed: string }>(
    `SELECT w.job_id AS "jobId", string_agg(r.packed, E'\\x1e' ORDER BY r.fire_time DESC) AS packed
     FROM unnest($1::integer[], $2::timestamptz[]) AS w(job_id, floor)
     CROSS JOIN LATERAL (
       SELECT e.fire_time, ${packedFire} AS packed FROM escapement.execution e
       WHERE e.job_id = w.job_id AND e.fire_time >= w.floor AND e.fire_time >= $3 AND e.fire_time <= $4 AND e.revoked_at IS NULL ${condition}
       ORDER BY e.fire_time DESC LIMIT $5) r
     GROUP BY w.job_id`,
    [jobs.map(({ jobId }) => jobId), jobs.map(({ floor }) => floor), from, to, perJob],
  );
  return rows.map(({ jobId, packed }) => ({ jobId, fires: packed.split("\x1e").map(unpackFire) }));
}

function unpackFire(text: string): FireLook {
  const [fire, status, duration, late, reason] = text.split("\x1f") as [
    string,
    ExecutionStatus,
    string,
    string,
    string,
  ];
  return {
    fireTime: new Date(Number(fire)),
    status,
    durationMs: duration === "" ? null : Number(duration),
    lateMs: late === "" ? null : Number(late),
    reason: reason === "" ? null : reason,
  };
}

/** The oldest unfinished fire of each job that has one, at most 5,000 jobs: where a rerun makes an old count wrong. */
export async function oldestLive(
  db: Queryable,
  now: Date,
): Promise<{ readonly jobId: number; readonly fireTime: Date }[]> {
  const { rows } = await db.query<{ jobId: number; fireTime: Date }>(
    `SELECT job_id AS "jobId", min(fire_time) AS "fireTime" FROM (
       SELECT job_id, fire_time FROM escapement.execution_live WHERE fire_time <= $1 LIMIT 20000) l
     GROUP BY job_id LIMIT 5000`,
    [now],
  );
  return rows;
}
