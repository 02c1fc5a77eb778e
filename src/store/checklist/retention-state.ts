/** What is kept, since when, and whether what deduplication depends on is kept as long. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface RetentionState {
  readonly retentionMonths: number;
  /** Fires before it are forgotten. Far in the past: nothing was ever forgotten. */
  readonly lowWater: Date;
  /** Records of this instant and later must be there. */
  readonly keptSince: Date;
  /** The first fire on record. */
  readonly oldest: Date | null;
  readonly lastPrune: Date | null;
  readonly now: Date;
}

export function readRetention(db: Queryable): Promise<Look<RetentionState>> {
  return look<RetentionState>(
    db,
    `SELECT c.retention_months AS "retentionMonths", c.low_water AS "lowWater",
       (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - make_interval(months => c.retention_months)) AT TIME ZONE 'UTC' AS "keptSince",
       (SELECT min(fire_time) FROM escapement.execution) AS oldest,
       (SELECT max(at) FROM escapement.operation WHERE action = 'store prune') AS "lastPrune", clock_timestamp() AS now
     FROM escapement.cluster c`,
  );
}

export interface MonthRow {
  /** `2026-11`. */
  readonly month: string;
  readonly tables: readonly string[];
  readonly bytes: number;
}

/** The monthly partitions of the records, oldest first. */
export function readMonths(db: Queryable): Promise<Look<MonthRow>> {
  return look<MonthRow>(
    db,
    `SELECT translate(right(c.relname, 7), '_', '-') AS month, array_agg(p.relname::text ORDER BY p.relname) AS tables,
       sum(pg_total_relation_size(c.oid))::bigint AS bytes
     FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid JOIN pg_class p ON p.oid = h.inhparent
     WHERE p.relnamespace = 'escapement'::regnamespace AND p.relkind = 'p' AND c.relkind = 'r'
     GROUP BY 1 ORDER BY 1`,
  );
}

export interface ForgottenKeys {
  /** Executions of a business period whose key is not kept any more: the period could be done twice. */
  readonly periods: number;
  /** The guard's own mark, where its tables are in this database. */
  readonly guardLowWater: Date | null;
  readonly hasGuard: boolean;
}

export async function readForgottenKeys(db: Queryable): Promise<Look<ForgottenKeys>> {
  const { rows } = await db.query<{ found: boolean }>(
    "SELECT to_regclass('escapement_guard.meta') IS NOT NULL AS found",
  );
  const guard = rows[0]!.found
    ? "(SELECT low_water::timestamptz FROM escapement_guard.meta)"
    : "NULL::timestamptz";
  return look<ForgottenKeys>(
    db,
    `SELECT (SELECT count(*) FROM escapement.execution e WHERE e.period_key IS NOT NULL AND NOT EXISTS (
               SELECT 1 FROM escapement.job_period p WHERE p.job_id = e.job_id AND p.period_key = e.period_key)) AS periods,
       ${guard} AS "guardLowWater", ${rows[0]!.found} AS "hasGuard"`,
  );
}

export interface DiskRow {
  readonly host: string;
  readonly path: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly ageMs: number;
}

/** The file systems of the store's host, as its own timer reported them. */
export function readDisks(db: Queryable): Promise<Look<DiskRow>> {
  return look<DiskRow>(
    db,
    `SELECT host, path, total_bytes AS "totalBytes", free_bytes AS "freeBytes",
       (extract(epoch FROM clock_timestamp() - at) * 1000)::double precision AS "ageMs"
     FROM escapement.store_disk ORDER BY host, path`,
  );
}
