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
  /** It is on the address of this server itself, and lost with it. */
  readonly isSameHost: boolean;
}

export function readFollowers(db: Queryable): Promise<Look<FollowerRow>> {
  return look<FollowerRow>(
    db,
    `SELECT application_name AS application, host(client_addr) AS address, state, sync_state AS sync,
       pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::double precision AS "behindBytes",
       (extract(epoch FROM replay_lag) * 1000)::double precision AS "behindMs",
       coalesce(host(client_addr) = host(inet_server_addr()) AND NOT client_addr <<= '127.0.0.0/8', false) AS "isSameHost"
     FROM pg_stat_replication ORDER BY 1`,
  );
}
