/**
 * One look at the cluster for a screen that is drawn every second: who leads, who
 * executes, what waits. Live tables only; counts stop at a bound, so that the
 * look costs the same on a quiet cluster and in a flood.
 */
import type { Queryable } from "../database.ts";

/** Counting stops here: a screen that says "10,000+" is right, and quick. */
export const countBound = 10_000;

export interface SchedulerLook {
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly timeZoneData: string;
  readonly role: "leader" | "standby" | "stopped" | "silent";
  readonly startedAt: Date;
  readonly seenMsAgo: number;
  readonly offsetMs: number | null;
  readonly timeSource: Readonly<Record<string, unknown>> | null;
  /** null: it has no virtual address, or could not look. */
  readonly holdsVirtualAddress: boolean | null;
}

export interface ExecutorLook {
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly state: "active" | "draining" | "stopped" | "reaped";
  /** Below zero: the lease has ended. */
  readonly leaseLeftMs: number;
  readonly startedAt: Date;
  readonly slots: number;
  readonly running: number;
  readonly offsetMs: number | null;
  readonly timeSource: Readonly<Record<string, unknown>> | null;
  readonly drain: { readonly since: string; readonly person: string; readonly reason: string } | null;
}

export interface WatchmanLook {
  readonly node: string;
  readonly host: string;
  readonly version: string;
  readonly passMsAgo: number;
  /** It has ended because somebody asked it to. */
  readonly stopped: boolean;
}

export interface ClusterLook {
  /** By the database's clock. */
  readonly now: Date;
  readonly leader: {
    readonly node: string | null;
    readonly epoch: number;
    readonly alive: boolean;
    readonly leaseLeftMs: number;
    readonly since: Date | null;
  };
  readonly schedulers: readonly SchedulerLook[];
  readonly executors: readonly ExecutorLook[];
  readonly watchmen: readonly WatchmanLook[];
  readonly work: WorkLook;
}

/** Each count stops at {@link countBound}. */
export interface WorkLook {
  readonly open: number;
  readonly held: number;
  readonly planned: number;
  readonly shardsRunning: number;
  readonly shardsWaiting: number;
  readonly staleWrites: number;
}

/** Three of a scheduler's notes have not come. */
const silentAfterSeconds = 15;

export async function lookAtCluster(db: Queryable): Promise<ClusterLook> {
  const { rows } = await db.query<{ now: Date; leader: ClusterLook["leader"] & { since: string | null } }>(
    `SELECT clock_timestamp() AS now, json_build_object('node', node, 'epoch', epoch, 'alive', holder IS NOT NULL AND expires_at > clock_timestamp(),
       'leaseLeftMs', CASE WHEN isfinite(expires_at) THEN extract(epoch FROM expires_at - clock_timestamp()) * 1000 ELSE 0 END,
       'since', acquired_at) AS leader FROM escapement.leader`,
  );
  const { now, leader } = rows[0]!;
  return {
    now,
    leader: { ...leader, since: leader.since === null ? null : new Date(leader.since) },
    schedulers: await schedulers(db),
    executors: await executors(db),
    watchmen: await watchmen(db),
    work: await work(db),
  };
}

async function schedulers(db: Queryable): Promise<SchedulerLook[]> {
  const { rows } = await db.query<SchedulerLook>(
    `SELECT DISTINCT ON (s.node) s.node, s.host, s.pid, s.version, s.time_zone_data AS "timeZoneData",
       CASE WHEN l.holder = s.incarnation AND l.expires_at > clock_timestamp() THEN 'leader'
            WHEN s.role = 'stopped' THEN 'stopped'
            WHEN s.last_seen < clock_timestamp() - make_interval(secs => $1) THEN 'silent' ELSE 'standby' END AS role,
       s.started_at AS "startedAt", (extract(epoch FROM clock_timestamp() - s.last_seen) * 1000)::double precision AS "seenMsAgo",
       s.offset_ms AS "offsetMs", s.time_source AS "timeSource", s.holds_virtual_address AS "holdsVirtualAddress"
     FROM escapement.scheduler s CROSS JOIN escapement.leader l ORDER BY s.node, s.last_seen DESC`,
    [silentAfterSeconds],
  );
  return rows;
}

/** The latest process of each node. */
async function executors(db: Queryable): Promise<ExecutorLook[]> {
  const { rows } = await db.query<ExecutorLook>(
    `SELECT x.node, x.host, x.pid, x.version, x.state, x.started_at AS "startedAt", x.offset_ms AS "offsetMs", x.time_source AS "timeSource",
       x.cpu_slots + x.memory_slots + x.io_slots + x.control_slots AS slots,
       (extract(epoch FROM x.lease_until - clock_timestamp()) * 1000)::double precision AS "leaseLeftMs",
       CASE WHEN d.node IS NULL THEN NULL ELSE json_build_object('since', d.since, 'person', d.person, 'reason', d.reason) END AS drain,
       (SELECT count(*)::integer FROM (SELECT 1 FROM escapement.shard_live l WHERE l.owner = x.incarnation LIMIT ${countBound}) r) AS running
     FROM (SELECT DISTINCT ON (node) * FROM escapement.executor ORDER BY node, lease_until DESC, started_at DESC) x
     LEFT JOIN escapement.executor_drain d ON d.node = x.node ORDER BY x.node`,
  );
  return rows;
}

async function watchmen(db: Queryable): Promise<WatchmanLook[]> {
  const { rows } = await db.query<WatchmanLook>(
    `SELECT node, host, version, (extract(epoch FROM clock_timestamp() - last_pass_at) * 1000)::double precision AS "passMsAgo",
       pid = 0 AS stopped
     FROM escapement.watchman ORDER BY node`,
  );
  return rows;
}

async function work(db: Queryable): Promise<WorkLook> {
  const bounded = (from: string) =>
    `(SELECT count(*)::integer FROM (SELECT 1 FROM escapement.${from} LIMIT ${countBound}) c)`;
  const { rows } = await db.query<WorkLook>(
    `SELECT ${bounded("execution_live WHERE state = 'open'")} AS open, ${bounded("execution_live WHERE state = 'held'")} AS held,
       ${bounded("execution_live WHERE state = 'planned'")} AS planned,
       ${bounded("shard_live WHERE owner IS NOT NULL")} AS "shardsRunning", ${bounded("shard_live WHERE owner IS NULL")} AS "shardsWaiting",
       ${bounded("stale_write")} AS "staleWrites"`,
  );
  return rows[0]!;
}
