/** Leases, fences and reclaim, tried on rows that are undone. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";
import { type Trial, undone } from "./undone.ts";

export interface LeaseTrial {
  /** All but the last two must be false: what an executor could still do after its lease had ended. */
  readonly renewed: boolean;
  readonly claimed: boolean;
  readonly completed: boolean;
  /** An older fence token ended a shard of a living executor. */
  readonly oldToken: boolean;
  /** The executor was declared dead, and its shard was free afterwards. */
  readonly reaped: boolean;
  readonly free: boolean;
}

/** A lease ends while the statement runs; see the function for what is tried then. */
export function tryLease(db: Queryable): Promise<Trial<LeaseTrial>> {
  return undone<LeaseTrial>(db, "try_lease");
}

export interface OverdueRow {
  readonly node: string;
  readonly host: string;
  readonly leaseUntil: Date;
  readonly overdueMs: number;
  readonly shards: number;
}

/** Executors whose lease ended long ago and whom nobody has declared dead. */
export function readOverdue(db: Queryable, mostMs: number): Promise<Look<OverdueRow>> {
  return look<OverdueRow>(
    db,
    `SELECT x.node, x.host, x.lease_until AS "leaseUntil",
       (extract(epoch FROM clock_timestamp() - x.lease_until) * 1000)::double precision AS "overdueMs",
       (SELECT count(*) FROM escapement.shard_live l WHERE l.owner = x.incarnation) AS shards
     FROM escapement.executor x
     WHERE x.state IN ('active', 'draining') AND x.lease_until < clock_timestamp() - make_interval(secs => $1 / 1000.0)`,
    [mostMs],
  );
}

export interface WaitRow {
  readonly pid: number;
  readonly application: string;
  readonly waitedMs: number;
  readonly blockedBy: readonly number[];
}

/** Sessions of ours that have waited for a lock for longer than that. */
export function readLongWaits(db: Queryable, mostMs: number): Promise<Look<WaitRow>> {
  return look<WaitRow>(
    db,
    `SELECT l.pid, a.application_name AS application,
       (extract(epoch FROM clock_timestamp() - l.waitstart) * 1000)::double precision AS "waitedMs", pg_blocking_pids(l.pid) AS "blockedBy"
     FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE NOT l.granted AND a.datname = current_database() AND a.application_name LIKE 'escapement%'
       AND l.waitstart < clock_timestamp() - make_interval(secs => $1 / 1000.0)`,
    [mostMs],
  );
}
