/** The one row about the cluster itself: who it is, which generation of the store, which time-zone data. */
import type { Queryable } from "./database.ts";

export interface ClusterRow {
  readonly clusterId: string;
  readonly generation: number;
  /** The time-zone data version all schedulers must have; null until the first leader has written its own. */
  readonly timeZoneData: string | null;
  readonly retentionMonths: number;
  readonly lowWater: Date;
  /** The latest database time any leader has written. */
  readonly lastSeen: Date;
}

export async function readCluster(db: Queryable): Promise<ClusterRow> {
  const { rows } = await db.query<ClusterRow>(
    `SELECT cluster_id AS "clusterId", generation, time_zone_data AS "timeZoneData", retention_months AS "retentionMonths",
       low_water AS "lowWater", last_seen AS "lastSeen" FROM escapement.cluster`,
  );
  return rows[0]!;
}

/** Records the time-zone data version, unless one is recorded. Returns the one in force. */
export async function claimTimeZoneData(db: Queryable, version: string): Promise<string> {
  const { rows } = await db.query<{ version: string }>(
    "UPDATE escapement.cluster SET time_zone_data = coalesce(time_zone_data, $1) RETURNING time_zone_data AS version",
    [version],
  );
  return rows[0]?.version ?? version;
}

/**
 * Notes the database's time. A clock that is behind what was noted before was
 * stepped back while nobody watched.
 * @returns by how many milliseconds it is behind; 0 when it is not.
 */
export async function noteStoreTime(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ behindMs: number }>(
    `WITH before AS (SELECT last_seen FROM escapement.cluster),
     noted AS (UPDATE escapement.cluster SET last_seen = clock_timestamp() RETURNING last_seen)
     SELECT greatest(0, extract(epoch FROM before.last_seen - noted.last_seen) * 1000)::double precision AS "behindMs" FROM before, noted`,
  );
  return rows[0]?.behindMs ?? 0;
}
