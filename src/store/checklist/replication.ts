/** Who follows this server, as the server itself sees it. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface FollowerRow {
  readonly application: string | null;
  /** Null: through a local socket. */
  readonly address: string | null;
  /** Null: this login may not see it. */
  readonly state: string | null;
  readonly sync: string | null;
  /** Write-ahead log that it has not replayed yet. Null: it replays nothing, it only receives. */
  readonly behindBytes: number | null;
  readonly behindMs: number | null;
  /**
   * It is on the address of this server itself, and lost with it. In a lab, where every session comes from
   * this very machine, there is no other place to be.
   */
  readonly isSameHost: boolean;
}

/** Subscribers that take single tables are left out: nobody could go on with what they have. */
export function readFollowers(db: Queryable): Promise<Look<FollowerRow>> {
  return look<FollowerRow>(
    db,
    `SELECT r.application_name AS application, host(r.client_addr) AS address, r.state, r.sync_state AS sync,
       pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn)::double precision AS "behindBytes",
       (extract(epoch FROM r.replay_lag) * 1000)::double precision AS "behindMs",
       coalesce(host(r.client_addr) = host(inet_server_addr()) AND NOT r.client_addr <<= '127.0.0.0/8' AND r.client_addr <> '::1', false)
         OR coalesce(r.client_addr <<= '127.0.0.0/8' OR r.client_addr = '::1', true) AND EXISTS (
           SELECT 1 FROM pg_stat_activity a WHERE NOT (a.client_addr <<= '127.0.0.0/8' OR a.client_addr = '::1')) AS "isSameHost"
     FROM pg_stat_replication r
     WHERE NOT EXISTS (SELECT 1 FROM pg_replication_slots s WHERE s.slot_type = 'logical' AND s.active_pid = r.pid) ORDER BY 1`,
  );
}
