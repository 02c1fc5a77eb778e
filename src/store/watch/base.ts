/** The watchman's look at the cluster itself: clock, leader, schedulers, executors. */
import type { Queryable } from "../database.ts";

export interface LeaderView {
  readonly holder: string | null;
  readonly node: string | null;
  readonly epoch: number;
  readonly expiresAt: Date;
}

/** The database's clock, the lease of leadership, and the cluster's time-zone data. */
export async function readLeaderView(
  db: Queryable,
): Promise<{ now: Date; leader: LeaderView; timeZoneData: string | null }> {
  const { rows } = await db.query<LeaderView & { now: Date; timeZoneData: string | null }>(
    `SELECT clock_timestamp() AS now, l.holder, l.node, l.epoch, l.expires_at AS "expiresAt", c.time_zone_data AS "timeZoneData"
     FROM escapement.leader l CROSS JOIN escapement.cluster c`,
  );
  const { now, timeZoneData, ...leader } = rows[0]!;
  return { now, leader, timeZoneData };
}
