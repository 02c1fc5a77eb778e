/**
 * The watchman's look at the server. Much of it is for members of pg_monitor
 * only; what this login may not see is named, never taken for well.
 */
import type { Queryable } from "../database.ts";

export interface ServerHealth {
  readonly databaseBytes: number | null;
  readonly replicas:
    | readonly { readonly name: string; readonly lagBytes: number; readonly lagMs: number }[]
    | null;
  readonly oldestXmin: { readonly who: string; readonly ageMs: number; readonly transactions: number } | null;
  readonly unknown: readonly string[];
}

/** Reads what may be read. */
export async function readServerHealth(db: Queryable): Promise<ServerHealth> {
  const { rows } = await db.query<{ bytes: number; sees: boolean }>(
    `SELECT pg_database_size(current_database())::double precision AS bytes,
       pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees`,
  );
  const { bytes, sees } = rows[0]!;
  return {
    databaseBytes: bytes,
    replicas: sees ? await readReplicas(db) : null,
    oldestXmin: await readOldestXmin(db),
    // Sessions of others show their age to pg_monitor only; prepared transactions and slots show it to all.
    unknown: sees ? [] : ["replicas", "sessions that hold xmin"],
  };
}

async function readReplicas(db: Queryable): Promise<{ name: string; lagBytes: number; lagMs: number }[]> {
  const { rows } = await db.query<{ name: string; lagBytes: number; lagMs: number }>(
    `SELECT coalesce(nullif(application_name, ''), client_addr::text, pid::text) AS name,
       coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::double precision AS "lagBytes",
       coalesce(extract(epoch FROM replay_lag) * 1000, 0)::double precision AS "lagMs"
     FROM pg_stat_replication WHERE NOT pg_is_in_recovery()`,
  );
  return rows;
}

/** Who holds the oldest snapshot: a session, a prepared transaction or a slot. A slot has no start: one that nobody uses and that holds a million transactions counts as a day old. */
async function readOldestXmin(db: Queryable): Promise<ServerHealth["oldestXmin"]> {
  const { rows } = await db.query<{ who: string; ageMs: number; transactions: number }>(
    `SELECT who, "ageMs", transactions FROM (
       SELECT format('session %s of %s (%s)', pid, usename, application_name) AS who,
         extract(epoch FROM clock_timestamp() - xact_start) * 1000 AS "ageMs", age(backend_xmin) AS transactions
       FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
         AND datname = current_database()
       UNION ALL
       SELECT format('prepared transaction %s of %s', gid, owner), extract(epoch FROM clock_timestamp() - prepared) * 1000, age(transaction)
       FROM pg_prepared_xacts WHERE database = current_database()
       UNION ALL
       SELECT format('replication slot %s', slot_name), 86400000, age(coalesce(xmin, catalog_xmin))
       FROM pg_replication_slots WHERE NOT active AND age(coalesce(xmin, catalog_xmin)) > 1000000) held
     ORDER BY transactions DESC NULLS LAST LIMIT 1`,
  );
  const row = rows[0];
  return row ? { who: row.who, ageMs: Number(row.ageMs), transactions: Number(row.transactions) } : null;
}

/** A file system of a host of the store, as that host has reported it. */
export interface StoreDisk {
  readonly host: string;
  readonly path: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly at: Date;
}

export async function readStoreDisks(db: Queryable): Promise<StoreDisk[]> {
  const { rows } = await db.query<StoreDisk>(
    `SELECT host, path, total_bytes::double precision AS "totalBytes", free_bytes::double precision AS "freeBytes", at
     FROM escapement.store_disk ORDER BY host, path`,
  );
  return rows;
}
