/**
 * Executors and their leases.
 *
 *   active ──drain──▶ draining ──stop──▶ stopped
 *      └──────────────────┴──lease ended, reaped──▶ reaped
 *
 * A row is one incarnation: one process life, never a host. A shard's lease is
 * its owner's lease, so one small update keeps everything an executor runs.
 */
import type { Queryable } from "./database.ts";
import { storeTime } from "./store-time.ts";

export interface ExecutorIdentity {
  /** A fresh UUID for every process life, and again after a lost lease. */
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  /** Changes with every boot of the machine. */
  readonly bootId: string;
  readonly pid: number;
  /** Start time of the process as the kernel tells it, so that a reused pid is not taken for it. */
  readonly processStart: string;
  readonly version: string;
}

export interface ExecutorSlots {
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  readonly control: number;
}

export interface ExecutorRow extends ExecutorIdentity {
  readonly state: "active" | "draining" | "stopped" | "reaped";
  readonly leaseMs: number;
  readonly leaseUntil: Date;
  /** The lease has ended by the database's clock. */
  readonly expired: boolean;
  readonly startedAt: Date;
  readonly slots: ExecutorSlots;
  readonly offsetMs: number | null;
}

/** Enters an incarnation with a fresh lease. Returns the database's time. */
export async function registerExecutor(
  db: Queryable,
  identity: ExecutorIdentity,
  leaseMs: number,
  slots: ExecutorSlots,
): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>(
    `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
       cpu_slots, memory_slots, io_slots, control_slots)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $8::integer, clock_timestamp() + make_interval(secs => $8::integer / 1000.0), $9, $10, $11, $12)
     RETURNING clock_timestamp() AS now`,
    [
      identity.incarnation,
      identity.node,
      identity.host,
      identity.bootId,
      identity.pid,
      identity.processStart,
      identity.version,
      leaseMs,
      slots.cpu,
      slots.memory,
      slots.io,
      slots.control,
    ],
  );
  return storeTime(rows);
}

/**
 * Renews the lease of one incarnation.
 * @param offsetMs this host's wall clock minus the database's, for display only.
 * @returns the database's time, or null: the lease has ended and the shards may be someone else's.
 */
export async function renewExecutor(
  db: Queryable,
  incarnation: string,
  offsetMs: number | null,
): Promise<Date | null> {
  const { rows } = await db.query<{ now: Date | null }>("SELECT escapement.executor_renew($1, $2) AS now", [
    incarnation,
    offsetMs,
  ]);
  return rows[0]?.now ?? null;
}

/**
 * Stops claiming (draining) or says goodbye (stopped). A reaped incarnation stays
 * reaped; one that still holds shards stays draining, so that its lease is
 * watched and they are put back.
 */
export async function setExecutorState(
  db: Queryable,
  incarnation: string,
  state: "draining" | "stopped",
): Promise<void> {
  await db.query(
    `UPDATE escapement.executor x SET state = w.state, ended_at = CASE WHEN w.state = 'stopped' THEN clock_timestamp() END
     FROM (SELECT CASE WHEN EXISTS (SELECT 1 FROM escapement.shard_live WHERE owner = $1) THEN 'draining' ELSE $2 END AS state) w
     WHERE x.incarnation = $1 AND x.state IN ('active', 'draining')`,
    [incarnation, state],
  );
}

/** Every incarnation that is not known to have ended. */
export async function livingExecutors(db: Queryable): Promise<ExecutorRow[]> {
  const { rows } = await db.query<ExecutorRow & ExecutorSlots>(
    `SELECT incarnation, node, host, boot_id AS "bootId", pid, process_start AS "processStart", version, state, lease_ms AS "leaseMs",
       lease_until AS "leaseUntil", lease_until < clock_timestamp() AS expired, started_at AS "startedAt",
       cpu_slots AS cpu, memory_slots AS memory, io_slots AS io, control_slots AS control, offset_ms AS "offsetMs"
     FROM escapement.executor WHERE state IN ('active', 'draining') ORDER BY node, started_at`,
  );
  return rows.map(({ cpu, memory, io, control, ...row }) => ({
    ...row,
    slots: { cpu, memory, io, control },
  }));
}

/**
 * No honest lease reaches further than its own length: after the database's
 * clock was stepped back, cuts those that do. Returns how many.
 */
export async function clampExecutorLeases(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE escapement.executor SET lease_until = clock_timestamp() + make_interval(secs => lease_ms / 1000.0)
     WHERE state IN ('active', 'draining') AND lease_until > clock_timestamp() + make_interval(secs => lease_ms / 1000.0)`,
  );
  return rowCount ?? 0;
}

/**
 * Declares an executor dead and puts back what it held, if its lease has ended
 * and is still the one the caller saw.
 * @returns the number of shards put back, or null: it is alive, or another was faster.
 */
export async function reapExecutor(
  db: Queryable,
  incarnation: string,
  seenLeaseUntil: Date,
): Promise<number | null> {
  // The instant came through a Date and has lost its microseconds: compare as the row stands.
  const { rows } = await db.query<{ count: number | null }>(
    `SELECT escapement.reap(x.incarnation, x.lease_until) AS count FROM escapement.executor x
     WHERE x.incarnation = $1 AND date_trunc('milliseconds', x.lease_until) = $2::timestamptz`,
    [incarnation, seenLeaseUntil],
  );
  return rows[0]?.count ?? null;
}

/**
 * Takes the shards of an earlier incarnation on the same host and boot at once.
 * The caller has made sure that its process, and every child of it, is gone.
 */
export async function takeOver(
  db: Queryable,
  incarnation: string,
  predecessor: string,
): Promise<number | null> {
  const { rows } = await db.query<{ count: number | null }>("SELECT escapement.take_over($1, $2) AS count", [
    incarnation,
    predecessor,
  ]);
  return rows[0]?.count ?? null;
}
