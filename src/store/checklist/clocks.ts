/** Clocks as the processes measured them against the database's, and zones as the database knows them. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface OffsetRow {
  readonly part: "scheduler" | "executor";
  readonly node: string;
  readonly host: string;
  /** Wall clock minus the database's. Null: not measured yet. */
  readonly offsetMs: number | null;
  /** Since the process wrote it. */
  readonly ageMs: number;
}

/** The latest process of every node that has not said goodbye. An executor writes its offset with each renewal. */
export function readOffsets(db: Queryable): Promise<Look<OffsetRow>> {
  return look<OffsetRow>(
    db,
    `SELECT DISTINCT ON (part, node) part, node, host, "offsetMs", (extract(epoch FROM clock_timestamp() - at) * 1000)::double precision AS "ageMs"
     FROM (SELECT 'scheduler' AS part, node, host, offset_ms AS "offsetMs", last_seen AS at FROM escapement.scheduler WHERE role <> 'stopped'
           UNION ALL
           SELECT 'executor', node, host, offset_ms, lease_until - make_interval(secs => lease_ms / 1000.0) FROM escapement.executor
           WHERE state IN ('active', 'draining')) p
     ORDER BY part, node, at DESC`,
  );
}

export interface ZoneState {
  /** What sessions of this server start with. */
  readonly databaseZone: string;
  /** Versions of the time-zone data that schedulers run with. */
  readonly zoneData: readonly string[];
  /** The one that the cluster goes by. */
  readonly clusterZoneData: string | null;
}

export function readZones(db: Queryable, silentMs: number): Promise<Look<ZoneState>> {
  return look<ZoneState>(
    db,
    `SELECT current_setting('TimeZone') AS "databaseZone", c.time_zone_data AS "clusterZoneData",
       ARRAY(SELECT DISTINCT s.time_zone_data FROM escapement.scheduler s
             WHERE s.role <> 'stopped' AND s.last_seen > clock_timestamp() - make_interval(secs => $1 / 1000.0) ORDER BY 1) AS "zoneData"
     FROM escapement.cluster c`,
    [silentMs],
  );
}
