/**
 * The watchman's look at executions: for each job the last success and what came
 * due since, what is alive, and which expected fires have no row.
 *
 * Every statement is driven by an array of jobs or fires and reaches into the
 * records by primary key, one short index walk each; none of them may scan months.
 */
import type { Queryable } from "../database.ts";

export type Status =
  | "planned"
  | "pending"
  | "running"
  | "success"
  | "failed"
  | "interrupted"
  | "missed"
  | "blocked"
  | "cancelled";

export interface ExecutionView {
  readonly fireTime: Date;
  readonly status: Status;
  readonly trigger: "schedule" | "misfire" | "manual";
  readonly openedAt: Date | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly missedSeconds: number | null;
}

export interface ProgressRow {
  readonly jobId: number;
  readonly lastSuccess: ExecutionView | null;
  /** Due executions after it (or after the floor, without one), oldest first; at most 20. */
  readonly since: readonly ExecutionView[];
}

/** How many of the latest executions are searched for a success. */
const searched = 200;
const sinceLimit = 20;

const packed = `concat_ws('|', extract(epoch FROM e.fire_time) * 1000, e.status, e.trigger_type,
  coalesce((extract(epoch FROM e.opened_at) * 1000)::bigint::text, ''),
  coalesce((extract(epoch FROM e.actual_start_time) * 1000)::bigint::text, ''),
  coalesce((extract(epoch FROM e.actual_end_time) * 1000)::bigint::text, ''), coalesce(e.missed_seconds::text, ''))`;

/**
 * Where each job stands.
 * @param floors for each job, an instant that its last success is not older than; the search stops there.
 */
export async function readProgress(
  db: Queryable,
  jobIds: readonly number[],
  floors: readonly Date[],
  now: Date,
): Promise<ProgressRow[]> {
  const { rows } = await db.query<{ jobId: number; success: string | null; since: string | null }>(
    // Packed into text: tens of thousands of rows a pass would cost more to be parsed than to be read.
    `SELECT w.job_id AS "jobId", s.packed AS success, t.packed AS since
     FROM unnest($1::integer[], $2::timestamptz[]) AS w(job_id, floor)
     LEFT JOIN LATERAL (
       SELECT r.fire_time, r.packed FROM (
         SELECT e.fire_time, e.status, ${packed} AS packed FROM escapement.execution e
         WHERE e.job_id = w.job_id AND e.fire_time >= w.floor AND e.fire_time <= $3
         ORDER BY e.fire_time DESC LIMIT ${searched}) r
       WHERE r.status = 'success' ORDER BY r.fire_time DESC LIMIT 1) s ON true
     LEFT JOIN LATERAL (
       SELECT string_agg(r.packed, ';' ORDER BY r.fire_time) AS packed FROM (
         SELECT e.fire_time, ${packed} AS packed FROM escapement.execution e
         WHERE e.job_id = w.job_id AND e.fire_time > coalesce(s.fire_time, w.floor) AND e.fire_time <= $3 AND e.revoked_at IS NULL
         ORDER BY e.fire_time LIMIT ${sinceLimit}) r) t ON true`,
    [jobIds, floors, now],
  );
  return rows.map(({ jobId, success, since }) => ({
    jobId,
    lastSuccess: success === null ? null : unpack(success),
    since: since === null ? [] : since.split(";").map(unpack),
  }));
}

function unpack(text: string): ExecutionView {
  const [fire, status, trigger, opened, started, ended, missed] = text.split("|") as [
    string,
    Status,
    ExecutionView["trigger"],
    string,
    string,
    string,
    string,
  ];
  return {
    fireTime: new Date(Number(fire)),
    status,
    trigger,
    openedAt: opened ? new Date(Number(opened)) : null,
    startedAt: started ? new Date(Number(started)) : null,
    endedAt: ended ? new Date(Number(ended)) : null,
    missedSeconds: missed ? Number(missed) : null,
  };
}

export interface LiveRow extends ExecutionView {
  readonly jobId: number;
  readonly state: "planned" | "held" | "open";
  readonly dueAt: Date;
  readonly chained: boolean;
}

/** Everything unfinished that is due. */
export async function readLive(db: Queryable, now: Date): Promise<LiveRow[]> {
  const { rows } = await db.query<LiveRow>(
    `SELECT l.job_id AS "jobId", l.fire_time AS "fireTime", l.state, l.due_at AS "dueAt", l.chain_after IS NOT NULL AS chained,
       e.status, e.trigger_type AS trigger, e.opened_at AS "openedAt", e.actual_start_time AS "startedAt",
       e.actual_end_time AS "endedAt", e.missed_seconds AS "missedSeconds"
     FROM (SELECT * FROM escapement.execution_live WHERE state <> 'planned' OR due_at <= $1) l
     CROSS JOIN LATERAL (
       SELECT * FROM escapement.execution e WHERE e.job_id = l.job_id AND e.fire_time = l.fire_time LIMIT 1) e`,
    [now],
  );
  return rows;
}

/** Of the given fires, those that have no row, or only one that was taken back. */
export async function findAbsent(
  db: Queryable,
  fires: readonly { readonly jobId: number; readonly fireTime: Date }[],
): Promise<{ jobId: number; fireTime: Date }[]> {
  if (fires.length === 0) return [];
  const { rows } = await db.query<{ jobId: number; fireTime: Date }>(
    `SELECT w.job_id AS "jobId", w.fire_time AS "fireTime" FROM unnest($1::integer[], $2::timestamptz[]) AS w(job_id, fire_time)
     WHERE (SELECT true FROM escapement.execution e
            WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time AND e.revoked_at IS NULL LIMIT 1) IS NULL`,
    [fires.map(({ jobId }) => jobId), fires.map(({ fireTime }) => fireTime)],
  );
  return rows;
}

/** Rows done by executions, as their shards have reported them; null where none has. */
export async function readRowsDone(
  db: Queryable,
  executions: readonly { readonly jobId: number; readonly fireTime: Date }[],
): Promise<{ jobId: number; fireTime: Date; rows: number | null }[]> {
  if (executions.length === 0) return [];
  const { rows } = await db.query<{ jobId: number; fireTime: Date; rows: number | null }>(
    `SELECT w.job_id AS "jobId", w.fire_time AS "fireTime", (
       SELECT sum(s.rows)::double precision FROM escapement.shard s WHERE s.job_id = w.job_id AND s.fire_time = w.fire_time) AS rows
     FROM unnest($1::integer[], $2::timestamptz[]) AS w(job_id, fire_time)`,
    [executions.map(({ jobId }) => jobId), executions.map(({ fireTime }) => fireTime)],
  );
  return rows;
}

export interface BaselineRow {
  readonly jobId: number;
  readonly successes: number;
  readonly medianMs: number | null;
  readonly slowMs: number | null;
  readonly medianRows: number | null;
}

/** What the last 20 successes of each job were like. */
export async function readBaselines(
  db: Queryable,
  jobIds: readonly number[],
  since: Date,
  now: Date,
): Promise<BaselineRow[]> {
  if (jobIds.length === 0) return [];
  const { rows } = await db.query<BaselineRow>(
    `SELECT w.job_id AS "jobId", count(r.fire_time)::integer AS successes,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY r.ms) AS "medianMs",
       percentile_cont(0.9) WITHIN GROUP (ORDER BY r.ms) AS "slowMs",
       percentile_disc(0.5) WITHIN GROUP (ORDER BY r.rows) AS "medianRows"
     FROM unnest($1::integer[]) AS w(job_id)
     LEFT JOIN LATERAL (
       SELECT e.fire_time, e.ms, (SELECT sum(s.rows)::double precision FROM escapement.shard s
                                  WHERE s.job_id = w.job_id AND s.fire_time = e.fire_time) AS rows
       FROM (SELECT fire_time, status, duration_ms::double precision AS ms FROM escapement.execution e
             WHERE e.job_id = w.job_id AND e.fire_time >= $2 AND e.fire_time <= $3
             ORDER BY e.fire_time DESC LIMIT 100) e
       WHERE e.status = 'success' ORDER BY e.fire_time DESC LIMIT 20) r ON true
     GROUP BY w.job_id`,
    [jobIds, since, now],
  );
  return rows;
}
