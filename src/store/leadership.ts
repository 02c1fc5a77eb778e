/**
 * The leader's lease.
 *
 *   standby ──acquire (the lease has ended; epoch + 1)──▶ leader
 *      ▲                                                   │
 *      └──renewal refused, any error, or not trusted any more──┘
 *
 * One logged row. The database's clock decides; a holder trusts its own monotonic
 * clock only to stop earlier. Every write of a leader locks the row and proves
 * holder and epoch in the same statement.
 */
import { type Queryable, sqlState } from "./database.ts";

export interface LeaderRow {
  readonly holder: string | null;
  readonly node: string | null;
  readonly host: string | null;
  readonly epoch: number;
  readonly leaseMs: number;
  readonly acquiredAt: Date | null;
  readonly expiresAt: Date;
  /** A lease that has not ended by the database's clock. */
  readonly alive: boolean;
}

/** Tries to become the leader. Returns the epoch, or null when another lease is alive. */
export async function acquireLeadership(
  db: Queryable,
  who: { holder: string; node: string; host: string },
  leaseMs: number,
): Promise<number | null> {
  const { rows } = await db.query<{ epoch: number | null }>(
    "SELECT escapement.leader_acquire($1, $2, $3, $4) AS epoch",
    [who.holder, who.node, who.host, leaseMs],
  );
  return rows[0]?.epoch ?? null;
}

/** Renews. Returns the database's time, or null: the leadership is lost. */
export async function renewLeadership(db: Queryable, holder: string, epoch: number): Promise<Date | null> {
  const { rows } = await db.query<{ now: Date | null }>("SELECT escapement.leader_renew($1, $2) AS now", [
    holder,
    epoch,
  ]);
  return rows[0]?.now ?? null;
}

/** Gives the leadership back, so that the other scheduler need not wait for the lease to end. */
export async function releaseLeadership(db: Queryable, holder: string, epoch: number): Promise<void> {
  await db.query("SELECT escapement.leader_release($1, $2)", [holder, epoch]);
}

export async function readLeader(db: Queryable): Promise<LeaderRow> {
  const { rows } = await db.query<LeaderRow>(
    `SELECT holder, node, host, epoch, lease_ms AS "leaseMs", acquired_at AS "acquiredAt", expires_at AS "expiresAt",
       expires_at > clock_timestamp() AS alive FROM escapement.leader`,
  );
  return rows[0]!;
}

/** True when a fenced write was refused because the epoch is no longer ours. */
export function isLeadershipLost(error: unknown): boolean {
  return sqlState(error) === "ES001";
}
