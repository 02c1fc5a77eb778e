/** What the small books of the store say: alerts, drills, the checklist, the size of things. */
import type { Queryable } from "../database.ts";

export interface AlertLook {
  readonly key: string;
  readonly rule: string;
  readonly severity: "info" | "warning" | "critical";
  readonly job: string | null;
  readonly fireTime: Date | null;
  readonly message: string;
  readonly cause: string | null;
  readonly hint: string | null;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly acknowledgedBy: string | null;
  readonly quiet: string | null;
  readonly toldAt: Date | null;
}

/** What is open, worst first; at most 500. */
export async function openAlerts(db: Queryable): Promise<AlertLook[]> {
  const { rows } = await db.query<AlertLook>(
    `SELECT a.dedup_key AS key, a.kind AS rule, a.severity, a.fire_time AS "fireTime", left(a.message, 500) AS message, a.cause, a.hint, a.count,
       coalesce(a.job, (SELECT j.namespace || '/' || j.name FROM escapement.job j WHERE j.job_id = a.job_id)) AS job,
       coalesce(a.opened_at, a.first_at) AS "firstAt", a.last_at AS "lastAt", a.acknowledged_by AS "acknowledgedBy", a.quiet, a.told_at AS "toldAt"
     FROM (SELECT * FROM escapement.alert_outbox
           WHERE resolved_at IS NULL AND (opened_at IS NOT NULL OR last_at > clock_timestamp() - interval '1 day')
           ORDER BY last_at DESC LIMIT 500) a
     ORDER BY array_position(ARRAY['critical', 'warning', 'info'], a.severity), a.last_at DESC`,
  );
  return rows;
}

export interface DrillLook {
  readonly runId: string;
  readonly drill: string;
  readonly class: string;
  readonly person: string;
  readonly trigger: "manual" | "schedule";
  readonly controller: string;
  readonly state: "preflight" | "armed" | "fault" | "restoring" | "settling" | "judging" | "ended";
  readonly targets: readonly unknown[];
  readonly startedAt: Date;
  readonly faultAt: Date | null;
  readonly restoredAt: Date | null;
  readonly endedAt: Date | null;
  readonly abortRequestedAt: Date | null;
  readonly abortReason: string | null;
  /** Of a run that was not begun why: what must be so before was not, or its window was closed. */
  readonly verdict: "pass" | "fail" | "unknown" | "refused" | "left-out" | null;
  readonly reason: string | null;
  readonly summary: Readonly<Record<string, unknown>> | null;
  /** Below zero: its controller has not been heard of; any other may end the run. */
  readonly leaseLeftMs: number;
}

export interface DrillsLook {
  /** Newest first, at most 100. */
  readonly runs: readonly DrillLook[];
  readonly halt: { readonly at: Date; readonly person: string; readonly reason: string } | null;
}

export async function lookAtDrills(db: Queryable): Promise<DrillsLook> {
  const runs = await db.query<DrillLook>(
    `SELECT run_id AS "runId", drill, class, person, trigger_type AS trigger, controller, state, targets, started_at AS "startedAt",
       fault_at AS "faultAt", restored_at AS "restoredAt", ended_at AS "endedAt", abort_requested_at AS "abortRequestedAt",
       abort_reason AS "abortReason", reason, summary,
       CASE WHEN summary->'refused' = 'true'::jsonb THEN 'refused' WHEN summary->'leftOut' = 'true'::jsonb THEN 'left-out'
         ELSE verdict END AS verdict,
       (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::double precision AS "leaseLeftMs"
     FROM escapement.drill_run ORDER BY started_at DESC LIMIT 100`,
  );
  const halts = await db.query<{ at: Date; person: string; reason: string }>(
    "SELECT at, person, reason FROM escapement.drill_halt WHERE lifted_at IS NULL",
  );
  return { runs: runs.rows, halt: halts.rows[0] ?? null };
}

export interface ChecklistLook {
  readonly runId: string;
  readonly at: Date;
  readonly person: string;
  readonly version: string;
  readonly outcome: "pass" | "fail" | "unknown";
  /** As the run wrote them; read with care. */
  readonly items: unknown;
}

/** The latest run of the checklist, and the one before. */
export async function latestChecklists(db: Queryable): Promise<ChecklistLook[]> {
  const { rows } = await db.query<ChecklistLook>(
    `SELECT run_id AS "runId", at, person, version, outcome, items FROM escapement.checklist_run ORDER BY at DESC LIMIT 2`,
  );
  return rows;
}

export interface MonthSize {
  /** `2026-11`. */
  readonly month: string;
  readonly bytes: number;
  /** As the planner estimates them; −1: never counted. */
  readonly executions: number;
  readonly shards: number;
}

export interface StoreSize {
  readonly databaseBytes: number;
  /** Monthly partitions of the records, oldest first. */
  readonly months: readonly MonthSize[];
  readonly disks: readonly {
    readonly host: string;
    readonly path: string;
    readonly totalBytes: number;
    readonly freeBytes: number;
    readonly at: Date;
  }[];
  readonly retentionMonths: number;
}

/** How large the store is. Sizes come from the file system, counts from the catalogue: no row is read. */
export async function lookAtSize(db: Queryable): Promise<StoreSize> {
  const months = await db.query<MonthSize>(
    `SELECT replace(right(c.relname, 7), '_', '-') AS month, sum(pg_total_relation_size(c.oid))::double precision AS bytes,
       coalesce(sum(c.reltuples) FILTER (WHERE i.inhparent = 'escapement.execution'::regclass), -1)::double precision AS executions,
       coalesce(sum(c.reltuples) FILTER (WHERE i.inhparent = 'escapement.shard'::regclass), -1)::double precision AS shards
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent IN ('escapement.execution'::regclass, 'escapement.shard'::regclass, 'escapement.shard_attempt'::regclass, 'escapement.frozen_key'::regclass)
     GROUP BY 1 ORDER BY 1`,
  );
  const whole = await db.query<{ databaseBytes: number; retentionMonths: number }>(
    `SELECT pg_database_size(current_database())::double precision AS "databaseBytes", retention_months AS "retentionMonths" FROM escapement.cluster`,
  );
  const disks = await db.query<StoreSize["disks"][number]>(
    `SELECT host, path, total_bytes::double precision AS "totalBytes", free_bytes::double precision AS "freeBytes", at
     FROM escapement.store_disk ORDER BY host, path`,
  );
  return { ...whole.rows[0]!, months: months.rows, disks: disks.rows };
}
