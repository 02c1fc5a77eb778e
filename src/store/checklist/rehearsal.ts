/** What a rehearsal of a restore asks of the source and of the copy. */
import type { Database, Queryable } from "../database.ts";

const prefix = "escapement_rehearsal_";

/** Rows of every table of the schema, partitions one by one, and the place of every sequence. */
export async function countSchema(db: Queryable): Promise<Record<string, number>> {
  const { rows: tables } = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = 'escapement'::regnamespace AND c.relkind = 'r' ORDER BY 1`,
  );
  const counted: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await db.query<{ count: number }>(
      `SELECT count(*) AS count FROM escapement.${quoted(name)}`,
    );
    counted[name] = rows[0]!.count;
  }
  return counted;
}

/** Opens a snapshot that a dump can share; it lasts as long as the transaction, which may wait as long as it takes. */
export async function openSnapshot(tx: Queryable): Promise<string> {
  await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  await tx.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  await tx.query("SET LOCAL statement_timeout = 0");
  const { rows } = await tx.query<{ snapshot: string }>("SELECT pg_export_snapshot() AS snapshot");
  return rows[0]!.snapshot;
}

/**
 * Makes an empty database beside the others. What an earlier rehearsal left behind
 * because it was killed goes first; nobody is connected to such a one.
 */
export async function createScratch(admin: Database, name: string): Promise<string> {
  const { rows } = await admin
    .query<{ name: string }>(
      `SELECT d.datname AS name FROM pg_database d WHERE d.datname LIKE '${prefix.replaceAll("_", "\\_")}%'
       AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = d.datname)
       AND (pg_stat_file('base/' || d.oid || '/PG_VERSION', true)).modification < now() - interval '1 day'`,
    )
    .catch(() => ({ rows: [] }));
  for (const left of rows) await dropScratch(admin, left.name);
  const full = `${prefix}${name}`;
  await admin.query(`CREATE DATABASE ${quoted(full)} TEMPLATE template0`);
  return full;
}

export async function dropScratch(admin: Database, name: string): Promise<void> {
  await admin.query(`DROP DATABASE IF EXISTS ${quoted(name)} WITH (FORCE)`);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
