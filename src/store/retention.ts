/** Retention: whole months of records are dropped, and a low-water mark outlives them. */
import type { Database, Queryable } from "./database.ts";
import { type Deed, recordOperation } from "./operation.ts";

export interface Partition {
  readonly table: string;
  readonly month: string;
  readonly bytes: number;
}

/** The monthly partitions of the records, oldest first. */
export async function listPartitions(db: Queryable): Promise<Partition[]> {
  const { rows } = await db.query<Partition>(
    `SELECT p.relname AS "table", translate(right(c.relname, 7), '_', '-') AS month, pg_total_relation_size(c.oid) AS bytes
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     JOIN pg_namespace n ON n.oid = p.relnamespace
     WHERE n.nspname = 'escapement' AND p.relkind = 'p' AND c.relkind = 'r' ORDER BY month, p.relname`,
  );
  return rows;
}

/** What would go: partitions whose month ended before the retention begins, by the database's clock. */
export async function prunable(
  db: Queryable,
  retentionMonths: number,
): Promise<{ before: Date; partitions: Partition[] }> {
  const { rows } = await db.query<{ before: Date }>(
    `SELECT (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - make_interval(months => $1)) AT TIME ZONE 'UTC' AS before`,
    [retentionMonths],
  );
  const before = rows[0]!.before;
  const month = before.toISOString().slice(0, 7);
  return { before, partitions: (await listPartitions(db)).filter((partition) => partition.month < month) };
}

/** Drops them. A month with an unfinished execution is kept. Returns the tables that went. */
export async function prune(db: Database, before: Date, deed: Deed): Promise<string[]> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<{ dropped: string[] }>("SELECT escapement.prune($1) AS dropped", [
      before,
    ]);
    const dropped = rows[0]?.dropped ?? [];
    await forgetOldNotes(tx, before);
    await recordOperation(tx, { ...deed, action: "store prune", after: { before, dropped } });
    return dropped;
  });
}

/** Notes without partitions, as old as the records that go. What people did is kept for ever. */
async function forgetOldNotes(tx: Queryable, before: Date): Promise<void> {
  await tx.query("DELETE FROM escapement.clock_sample WHERE at < $1", [before]);
  await tx.query("DELETE FROM escapement.stale_write WHERE at < $1", [before]);
  await tx.query("DELETE FROM escapement.alert_outbox WHERE last_at < $1", [before]);
  await tx.query("DELETE FROM escapement.executor WHERE ended_at < $1 AND state IN ('stopped', 'reaped')", [
    before,
  ]);
  await tx.query("DELETE FROM escapement.scheduler WHERE last_seen < $1", [before]);
}
