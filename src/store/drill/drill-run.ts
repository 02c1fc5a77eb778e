/**
 * Runs of drills, and the lock of the cluster: at most one run is not ended.
 *
 *   preflight ──▶ armed ──▶ fault ──▶ restoring ──▶ settling ──▶ judging ──▶ ended
 *       └───────────┴──────────┴── any of them, with a verdict ──────────────▲
 *
 * Its controller keeps a lease. When that is over the run is abandoned: any other
 * controller may put the hosts right and end it. Every write names the controller
 * that it is for, so that one that was given up cannot write over its successor.
 */
import { EscapementError } from "../../base/errors.ts";
import { type Queryable, sqlState } from "../database.ts";
import { readStoreTime } from "../store-time.ts";
import { busyText } from "./run-silence.ts";

export type DrillState = "preflight" | "armed" | "fault" | "restoring" | "settling" | "judging" | "ended";
export type DrillOutcome = "pass" | "fail" | "unknown";

/** A host that a run touches, and which part of the cluster lives there. */
export interface DrilledHost {
  readonly host: string;
  readonly node: string;
  readonly part: string;
}

export interface DrillRunRow {
  /** Lower-case uuid. */
  readonly runId: string;
  readonly drill: string;
  /** The failure class that it stands for. */
  readonly class: string;
  readonly digest: string;
  readonly person: string;
  readonly trigger: "manual" | "schedule";
  readonly version: string;
  readonly controller: string;
  readonly leaseUntil: Date;
  /** Its controller's lease is over, by the database's clock. */
  readonly abandoned: boolean;
  readonly state: DrillState;
  readonly targets: readonly DrilledHost[];
  readonly startedAt: Date;
  readonly faultAt: Date | null;
  readonly restoredAt: Date | null;
  readonly endedAt: Date | null;
  readonly abortRequestedAt: Date | null;
  readonly abortReason: string | null;
  readonly verdict: DrillOutcome | null;
  /** The verdict, but of a run that was not begun why: what must be so before was not, or its window was closed. */
  readonly outcome: DrillOutcome | "refused" | "left-out" | null;
  readonly reason: string | null;
  readonly summary: Readonly<Record<string, unknown>> | null;
}

export interface NewDrillRun {
  readonly runId: string;
  readonly drill: string;
  readonly class: string;
  readonly digest: string;
  readonly person: string;
  readonly trigger: "manual" | "schedule";
  readonly version: string;
  readonly controller: string;
  readonly targets: readonly DrilledHost[];
}

const columns = `run_id AS "runId", drill, class, digest, person, trigger_type AS trigger, version, controller,
  lease_until AS "leaseUntil", ended_at IS NULL AND lease_until < clock_timestamp() AS abandoned, state, targets,
  started_at AS "startedAt", fault_at AS "faultAt", restored_at AS "restoredAt", ended_at AS "endedAt",
  abort_requested_at AS "abortRequestedAt", abort_reason AS "abortReason", verdict, reason, summary,
  CASE WHEN summary->'refused' = 'true'::jsonb THEN 'refused' WHEN summary->'leftOut' = 'true'::jsonb THEN 'left-out' ELSE verdict END AS outcome`;

/** True for runs that broke something, or might have. */
const wasBegun = "(summary->'refused' = 'true'::jsonb OR summary->'leftOut' = 'true'::jsonb) IS NOT TRUE";

const uniqueViolation = "23505";

/**
 * Enters a run and with it takes the lock.
 * @returns the database's time
 * @throws E_DRILL_BUSY when another run is not ended, with what is known of it
 */
export async function beginDrillRun(db: Queryable, run: NewDrillRun, leaseMs: number): Promise<Date> {
  try {
    const { rows } = await db.query<{ at: Date }>(
      `INSERT INTO escapement.drill_run (run_id, drill, class, digest, person, trigger_type, version, controller, state, targets, lease_until)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'preflight', $9, clock_timestamp() + make_interval(secs => $10::integer / 1000.0))
       RETURNING started_at AS at`,
      [
        run.runId,
        run.drill,
        run.class,
        run.digest,
        run.person,
        run.trigger,
        run.version,
        run.controller,
        JSON.stringify(run.targets),
        leaseMs,
      ],
    );
    return rows[0]!.at;
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    const other = await currentDrillRun(db);
    throw new EscapementError("E_DRILL_BUSY", {
      what: other ? busyText(other, await readStoreTime(db)) : "it has just begun or ended",
    });
  }
}

/** The run that is not ended, if there is one. */
export async function currentDrillRun(db: Queryable): Promise<DrillRunRow | null> {
  const { rows } = await db.query<DrillRunRow>(
    `SELECT ${columns} FROM escapement.drill_run WHERE ended_at IS NULL`,
  );
  return rows[0] ?? null;
}

/** One run by its id or the beginning of it; null when none or several fit. */
export async function findDrillRun(db: Queryable, runId: string): Promise<DrillRunRow | null> {
  if (!/^[0-9a-f-]{1,36}$/.test(runId)) return null;
  const { rows } = await db.query<DrillRunRow>(
    `SELECT ${columns} FROM escapement.drill_run WHERE run_id::text LIKE $1 || '%' LIMIT 2`,
    [runId],
  );
  return rows.length === 1 ? rows[0]! : null;
}

/** The latest runs, newest first. */
export async function listDrillRuns(
  db: Queryable,
  options: { readonly limit?: number; readonly class?: string; readonly drill?: string } = {},
): Promise<DrillRunRow[]> {
  const { rows } = await db.query<DrillRunRow>(
    `SELECT ${columns} FROM escapement.drill_run
     WHERE ($2::text IS NULL OR class = $2) AND ($3::text IS NULL OR drill = $3) ORDER BY started_at DESC LIMIT $1`,
    [options.limit ?? 20, options.class ?? null, options.drill ?? null],
  );
  return rows;
}

export interface LatestDrill {
  readonly class: string;
  /** When the last run of the class ended. */
  readonly lastRunAt: Date;
  /** When the last one that passed ended; null when none ever did. */
  readonly lastPassAt: Date | null;
}

/** For each class of drill: when it was last run to an end, and when it last passed. What was refused or left out is no run. */
export async function latestDrills(db: Queryable): Promise<LatestDrill[]> {
  const { rows } = await db.query<LatestDrill>(
    `SELECT class, max(ended_at) AS "lastRunAt", max(ended_at) FILTER (WHERE verdict = 'pass') AS "lastPassAt"
     FROM escapement.drill_run WHERE ended_at IS NOT NULL AND ${wasBegun} GROUP BY class ORDER BY class`,
  );
  return rows;
}

export interface DrillRenewal {
  /** Somebody asked to abort, with the reason. */
  readonly abort: string | null;
}

/** Renews the controller's lease. Null: the run has ended, or is somebody else's. */
export async function renewDrillRun(
  db: Queryable,
  runId: string,
  controller: string,
  leaseMs: number,
): Promise<DrillRenewal | null> {
  const { rows } = await db.query<DrillRenewal>(
    `UPDATE escapement.drill_run SET lease_until = clock_timestamp() + make_interval(secs => $3::integer / 1000.0)
     WHERE run_id = $1 AND controller = $2 AND ended_at IS NULL
     RETURNING CASE WHEN abort_requested_at IS NOT NULL THEN coalesce(abort_reason, 'no reason given') END AS abort`,
    [runId, controller, leaseMs],
  );
  return rows[0] ?? null;
}

/**
 * Notes how far a run is; `fault` and `settling` also note the instant.
 * @returns the database's time, or null: the run is not ours any more
 */
export async function setDrillState(
  db: Queryable,
  runId: string,
  controller: string,
  state: Exclude<DrillState, "ended">,
  targets?: readonly DrilledHost[],
): Promise<Date | null> {
  const { rows } = await db.query<{ now: Date }>(
    `UPDATE escapement.drill_run SET state = $3, targets = coalesce($4::jsonb, targets),
       fault_at = CASE WHEN $3 = 'fault' THEN coalesce(fault_at, clock_timestamp()) ELSE fault_at END,
       restored_at = CASE WHEN $3 = 'settling' THEN coalesce(restored_at, clock_timestamp()) ELSE restored_at END
     WHERE run_id = $1 AND controller = $2 AND ended_at IS NULL RETURNING clock_timestamp() AS now`,
    [runId, controller, state, targets === undefined ? null : JSON.stringify(targets)],
  );
  return rows[0]?.now ?? null;
}

/**
 * Ends a run and gives the lock back.
 * @param controller of the run as it is in the row
 * @returns false when it had ended before
 */
export async function endDrillRun(
  db: Queryable,
  runId: string,
  controller: string,
  end: {
    readonly verdict: DrillOutcome;
    readonly reason: string;
    readonly summary: Readonly<Record<string, unknown>>;
  },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE escapement.drill_run SET state = 'ended', ended_at = clock_timestamp(), verdict = $3, reason = $4, summary = $5
     WHERE run_id = $1 AND controller = $2 AND ended_at IS NULL`,
    [runId, controller, end.verdict, end.reason, JSON.stringify(end.summary)],
  );
  return rowCount === 1;
}

/** Takes over a run whose controller's lease is over. False: it is alive, or another was faster. */
export async function takeOverDrillRun(
  db: Queryable,
  runId: string,
  from: string,
  to: string,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE escapement.drill_run SET controller = $3, lease_until = clock_timestamp() + make_interval(secs => $4::integer / 1000.0)
     WHERE run_id = $1 AND controller = $2 AND ended_at IS NULL AND lease_until < clock_timestamp()`,
    [runId, from, to, leaseMs],
  );
  return rowCount === 1;
}

/** Asks the controller of the run that is on to restore and end. Null: none is on. */
export async function requestDrillAbort(db: Queryable, reason: string): Promise<DrillRunRow | null> {
  const { rows } = await db.query<DrillRunRow>(
    `UPDATE escapement.drill_run SET abort_requested_at = coalesce(abort_requested_at, clock_timestamp()),
       abort_reason = coalesce(abort_reason, $1) WHERE ended_at IS NULL RETURNING ${columns}`,
    [reason],
  );
  return rows[0] ?? null;
}
