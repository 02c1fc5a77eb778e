/** The file systems of the store's own host: written there every minute, judged by the watchman. */
import type { Queryable } from "./database.ts";

export interface DiskReport {
  readonly path: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/** Replaces what this host has reported before. */
export async function reportDisks(db: Queryable, host: string, disks: readonly DiskReport[]): Promise<void> {
  await db.query(
    `WITH new AS (SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS d(path, total, free)),
     gone AS (DELETE FROM escapement.store_disk WHERE host = $1 AND path <> ALL ($2::text[]))
     INSERT INTO escapement.store_disk (host, path, total_bytes, free_bytes) SELECT $1, path, total, free FROM new
     ON CONFLICT (host, path) DO UPDATE SET total_bytes = excluded.total_bytes, free_bytes = excluded.free_bytes,
       at = clock_timestamp()`,
    [
      host,
      disks.map(({ path }) => path),
      disks.map(({ totalBytes }) => totalBytes),
      disks.map(({ freeBytes }) => freeBytes),
    ],
  );
}

/** Where the server keeps its data. Null: this login may not ask (pg_read_all_settings), or the server is too far to say. */
export async function dataDirectory(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ folder: string | null }>(
    "SELECT setting AS folder FROM pg_settings WHERE name = 'data_directory'",
  );
  return rows[0]?.folder || null;
}
