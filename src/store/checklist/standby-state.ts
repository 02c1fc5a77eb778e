/** A standby as it sees itself, against the server that it is a copy of. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface PrimaryPosition {
  /** The same for a server and all its physical copies. */
  readonly system: string;
  /** Up to where the server has written, as PostgreSQL writes positions: `0/3000148`. */
  readonly position: string;
  /** Null: through a local socket. */
  readonly address: string | null;
  /** We ask from the server's own machine. */
  readonly isLocal: boolean;
  /** Every session of this server comes from its own machine: a lab, in which one machine is all there is. Null: this login may not see them. */
  readonly isLab: boolean | null;
  readonly now: Date;
}

/** Asked of the server that the records are written to. */
export function readPosition(db: Queryable): Promise<Look<PrimaryPosition>> {
  return look<PrimaryPosition>(
    db,
    `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system, pg_current_wal_lsn()::text AS position,
       host(inet_server_addr()) AS address,
       inet_client_addr() IS NOT DISTINCT FROM inet_server_addr() AS "isLocal",
       CASE WHEN inet_client_addr() IS DISTINCT FROM inet_server_addr() THEN false
         WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN NOT EXISTS (
           SELECT 1 FROM pg_stat_activity a WHERE NOT (a.client_addr <<= '127.0.0.0/8' OR a.client_addr = '::1')) END AS "isLab",
       clock_timestamp() AS now`,
  );
}

export interface StandbyState {
  readonly system: string;
  /** False: it takes writes of its own, and follows nobody. */
  readonly inRecovery: boolean;
  readonly paused: boolean;
  readonly address: string | null;
  /** We ask from its own machine. */
  readonly isLocal: boolean;
  /** What it has not replayed of the position that was asked about; null where it is in no recovery. */
  readonly behindBytes: number | null;
  /** When the last transaction that it has replayed was committed, by the other server's clock. */
  readonly replayedAt: Date | null;
}

/**
 * Asked of the standby.
 * @param position of the server that it should follow
 */
export function readStandby(db: Queryable, position: string): Promise<Look<StandbyState>> {
  return look<StandbyState>(
    db,
    `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system, pg_is_in_recovery() AS "inRecovery",
       CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END AS paused, host(inet_server_addr()) AS address,
       inet_client_addr() IS NOT DISTINCT FROM inet_server_addr() AS "isLocal",
       CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::double precision END AS "behindBytes",
       pg_last_xact_replay_timestamp() AS "replayedAt"`,
    [position],
  );
}
