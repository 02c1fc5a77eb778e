/** One row a scheduler process: for status screens only, nothing is decided by it. */
import type { Queryable } from "./database.ts";

export interface SchedulerRow {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly timeZoneData: string;
  /** `silent`: has not been heard of for a while, whatever it was. Only the holder of a living lease is `leader`. */
  readonly role: "leader" | "standby" | "stopped" | "silent";
  readonly http: string | null;
  readonly startedAt: Date;
  readonly lastSeen: Date;
  readonly secondsSinceSeen: number;
  readonly offsetMs: number | null;
  /**
   * Whether its host has the cluster's virtual address. Null: the cluster has none, the process
   * could not look, or its last look is too old to say anything about now.
   */
  readonly holdsVirtualAddress: boolean | null;
  /** When the process last looked. */
  readonly virtualAddressSeenAt: Date | null;
}

/** Enters or refreshes this process's row. */
export async function noteScheduler(
  db: Queryable,
  row: Omit<
    SchedulerRow,
    "role" | "startedAt" | "lastSeen" | "secondsSinceSeen" | "holdsVirtualAddress" | "virtualAddressSeenAt"
  > & {
    readonly role: "leader" | "standby" | "stopped";
    readonly holdsVirtualAddress?: boolean | null;
  },
): Promise<void> {
  await db.query(
    `INSERT INTO escapement.scheduler AS s (incarnation, node, host, pid, version, time_zone_data, role, http, offset_ms,
       holds_virtual_address, virtual_address_seen_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $10::boolean IS NOT NULL THEN clock_timestamp() END)
     ON CONFLICT (incarnation) DO UPDATE SET role = excluded.role, last_seen = clock_timestamp(), offset_ms = excluded.offset_ms,
       holds_virtual_address = excluded.holds_virtual_address,
       virtual_address_seen_at = coalesce(excluded.virtual_address_seen_at, s.virtual_address_seen_at)`,
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
      row.holdsVirtualAddress ?? null,
    ],
  );
}

/** Three of its notes have not come. What it said of the virtual address counts for as long. */
const silentAfterSeconds = 15;

/** The latest process of every scheduler node. Who leads is read from the lease, not from what a process said last. */
export async function listSchedulers(db: Queryable): Promise<SchedulerRow[]> {
  const { rows } = await db.query<SchedulerRow>(
    `SELECT DISTINCT ON (s.node) s.incarnation, s.node, s.host, s.pid, s.version, s.time_zone_data AS "timeZoneData",
       CASE WHEN l.holder = s.incarnation AND l.expires_at > clock_timestamp() THEN 'leader'
            WHEN s.role = 'stopped' THEN 'stopped'
            WHEN s.last_seen < clock_timestamp() - make_interval(secs => $1) THEN 'silent'
            ELSE 'standby' END AS role,
       s.http, s.started_at AS "startedAt", s.last_seen AS "lastSeen",
       extract(epoch FROM clock_timestamp() - s.last_seen)::double precision AS "secondsSinceSeen", s.offset_ms AS "offsetMs",
       CASE WHEN s.virtual_address_seen_at >= clock_timestamp() - make_interval(secs => $1) THEN s.holds_virtual_address END
         AS "holdsVirtualAddress",
       s.virtual_address_seen_at AS "virtualAddressSeenAt"
     FROM escapement.scheduler s CROSS JOIN escapement.leader l ORDER BY s.node, s.last_seen DESC`,
    [silentAfterSeconds],
  );
  return rows;
}
