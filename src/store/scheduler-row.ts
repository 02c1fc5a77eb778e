/** One row a scheduler process: for status screens only, nothing is decided by it. */
import type { Queryable } from "./database.ts";

export interface SchedulerRow {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly timeZoneData: string;
  readonly role: "leader" | "standby" | "stopped";
  readonly http: string | null;
  readonly startedAt: Date;
  readonly lastSeen: Date;
  readonly secondsSinceSeen: number;
  readonly offsetMs: number | null;
}

/** Enters or refreshes this process's row. */
export async function noteScheduler(
  db: Queryable,
  row: Omit<SchedulerRow, "startedAt" | "lastSeen" | "secondsSinceSeen">,
): Promise<void> {
  await db.query(
    `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, http, offset_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (incarnation) DO UPDATE SET role = excluded.role, last_seen = clock_timestamp(), offset_ms = excluded.offset_ms`,
    [
      row.incarnation,
      row.node,
      row.host,
      row.pid,
      row.version,
      row.timeZoneData,
      row.role,
      row.http,
      row.offsetMs,
    ],
  );
}

/** The latest process of every scheduler node. */
export async function listSchedulers(db: Queryable): Promise<SchedulerRow[]> {
  const { rows } = await db.query<SchedulerRow>(
    `SELECT DISTINCT ON (node) incarnation, node, host, pid, version, time_zone_data AS "timeZoneData", role, http,
       started_at AS "startedAt", last_seen AS "lastSeen",
       extract(epoch FROM clock_timestamp() - last_seen)::double precision AS "secondsSinceSeen", offset_ms AS "offsetMs"
     FROM escapement.scheduler ORDER BY node, last_seen DESC`,
  );
  return rows;
}
