/** Who may plan fires: the leader's row, the schedulers that live, and the epochs that were written. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";
import { type Trial, undone } from "./undone.ts";

export interface LeaderState {
  readonly holder: string | null;
  readonly node: string | null;
  readonly host: string | null;
  readonly epoch: number;
  /** The lease holds, by the database's clock. */
  readonly held: boolean;
  /** The holder is a scheduler that has been heard of lately. */
  readonly alive: boolean;
}

/** Every row of the leader's table: there should be one. */
export function readLeaders(db: Queryable, silentMs: number): Promise<Look<LeaderState>> {
  return look<LeaderState>(
    db,
    `SELECT l.holder, l.node, l.host, l.epoch, l.expires_at > clock_timestamp() AS held,
       EXISTS (SELECT 1 FROM escapement.scheduler s WHERE s.incarnation = l.holder AND s.role <> 'stopped'
               AND s.last_seen > clock_timestamp() - make_interval(secs => $1 / 1000.0)) AS alive
     FROM escapement.leader l`,
    [silentMs],
  );
}

export interface LivingScheduler {
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly role: string;
  readonly holdsAddress: boolean | null;
}

/** Scheduler processes that have been heard of lately and have not said goodbye. */
export function readLivingSchedulers(db: Queryable, silentMs: number): Promise<Look<LivingScheduler>> {
  return look<LivingScheduler>(
    db,
    `SELECT node, host, pid, role, holds_virtual_address AS "holdsAddress" FROM escapement.scheduler
     WHERE role <> 'stopped' AND last_seen > clock_timestamp() - make_interval(secs => $1 / 1000.0) ORDER BY node, last_seen DESC`,
    [silentMs],
  );
}

export interface EpochDisorder {
  /** Executions that were planned under an older epoch after a newer one had planned. */
  readonly count: number;
  readonly planned: number;
}

export function readEpochDisorder(db: Queryable, from: Date, to: Date): Promise<Look<EpochDisorder>> {
  return look<EpochDisorder>(
    db,
    `SELECT count(*) FILTER (WHERE epoch < newest) AS count, count(*) AS planned FROM (
       SELECT epoch, max(epoch) OVER (ORDER BY planned_at, epoch) AS newest FROM escapement.execution
       WHERE fire_time BETWEEN $1 AND $2 AND epoch IS NOT NULL) e`,
    [from, to],
  );
}

export interface StrangerTrial {
  /** Somebody who does not hold the lease could plan. */
  readonly planned: boolean;
  /** And could renew it. */
  readonly renewed: boolean;
}

/** Plans nothing at all, and renews, as somebody who does not lead. */
export function tryStranger(db: Queryable): Promise<Trial<StrangerTrial>> {
  return undone<StrangerTrial>(db, "try_stranger");
}
