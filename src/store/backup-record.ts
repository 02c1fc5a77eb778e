/** Backups that were made and restores that were tried, written down by whoever did it. */
import type { Queryable } from "./database.ts";

export interface BackupRecord {
  readonly kind: "backup" | "restore";
  readonly person: string;
  readonly host: string;
  /** What was backed up or restored, and where to. */
  readonly what: string;
  readonly bytes: number | null;
  /** Of a restore: rows of every table, source and copy. */
  readonly checked: { readonly tables: Readonly<Record<string, readonly [number, number]>> } | null;
  readonly ok: boolean;
  readonly reason: string | null;
}

export async function recordBackup(db: Queryable, record: BackupRecord): Promise<void> {
  const { kind, person, host, what, bytes, checked, ok, reason } = record;
  await db.query(
    `INSERT INTO escapement.backup_record (kind, person, host, what, bytes, checked, ok, reason) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [kind, person, host, what, bytes, checked === null ? null : JSON.stringify(checked), ok, reason],
  );
}
