/** The watchman's look at the cluster itself: clock, leader, schedulers, executors, clocks. */
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

export interface SchedulerView {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly stopped: boolean;
  readonly lastSeen: Date;
  readonly timeZoneData: string;
  readonly offsetMs: number | null;
  /** Whether its host holds the virtual address; null: it has none, or could not look. */
  readonly holdsVirtualAddress: boolean | null;
  readonly virtualAddressSeenAt: Date | null;
  /** As the process has written it. */
  readonly timeSource: unknown;
}

/** The latest process of each scheduler node. */
export async function readSchedulerViews(db: Queryable): Promise<SchedulerView[]> {
  const { rows } = await db.query<SchedulerView>(
    `SELECT DISTINCT ON (node) incarnation, node, host, role = 'stopped' AS stopped, last_seen AS "lastSeen",
       time_zone_data AS "timeZoneData", offset_ms AS "offsetMs", time_source AS "timeSource",
       holds_virtual_address AS "holdsVirtualAddress", virtual_address_seen_at AS "virtualAddressSeenAt"
     FROM escapement.scheduler ORDER BY node, last_seen DESC`,
  );
  return rows;
}

export interface ExecutorView {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly state: "active" | "draining" | "stopped" | "reaped";
  readonly leaseMs: number;
  readonly leaseUntil: Date;
  readonly slots: number;
  readonly controlOnly: boolean;
  readonly offsetMs: number | null;
  readonly timeSource: unknown;
}

/** The latest process of each executor node, by its lease. */
export async function readExecutorViews(db: Queryable): Promise<ExecutorView[]> {
  const { rows } = await db.query<ExecutorView>(
    `SELECT DISTINCT ON (node) incarnation, node, host, state, lease_ms AS "leaseMs", lease_until AS "leaseUntil",
       cpu_slots + memory_slots + io_slots + control_slots AS slots, offset_ms AS "offsetMs",
       time_source AS "timeSource", cpu_slots + memory_slots + io_slots = 0 AND control_slots > 0 AS "controlOnly"
     FROM escapement.executor ORDER BY node, lease_until DESC, started_at DESC`,
  );
  return rows;
}

export interface StepView {
  readonly at: Date;
  readonly node: string;
  readonly part: string;
  readonly offsetMs: number;
}

/** Steps of clocks recorded since. */
export async function readClockSteps(db: Queryable, since: Date): Promise<StepView[]> {
  const { rows } = await db.query<StepView>(
    `SELECT at, node, part, offset_ms AS "offsetMs" FROM escapement.clock_sample WHERE kind = 'step' AND at >= $1 ORDER BY at`,
    [since],
  );
  return rows;
}
