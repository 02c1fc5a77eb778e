/** Backups that were made, and those that were really restored. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface BackupRow {
  readonly kind: "backup" | "restore";
  readonly ok: boolean;
  readonly host: string;
  readonly what: string;
  readonly bytes: number | null;
  readonly checked: unknown;
  readonly reason: string | null;
  readonly ageMs: number;
}

/** The newest row of each kind and outcome. */
export function readBackups(db: Queryable): Promise<Look<BackupRow>> {
  return look<BackupRow>(
    db,
    `SELECT DISTINCT ON (kind, ok) kind, ok, host, what, bytes, checked, reason,
       (extract(epoch FROM clock_timestamp() - at) * 1000)::double precision AS "ageMs"
     FROM escapement.backup_record ORDER BY kind, ok, at DESC`,
  );
}
