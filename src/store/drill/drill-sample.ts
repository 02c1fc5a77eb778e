/** One look at the cluster while a drill is on, by the database's clock; cheap enough for once a second. */
import type { Queryable } from "../database.ts";
import { listSchedulers, type SchedulerRow } from "../scheduler-row.ts";

export interface SampledExecutor {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly state: "active" | "draining" | "stopped" | "reaped";
  readonly leaseMs: number;
  readonly leaseUntil: Date;
  readonly expired: boolean;
  readonly startedAt: Date;
  /** The process's wall clock minus the database's, as it measured it last. */
  readonly offsetMs: number | null;
  /** Attempts at once. */
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  /** Shards of the drill's own jobs that it runs now. */
  readonly probes: number;
}

export interface ClusterSample {
  readonly now: Date;
  readonly leader: {
    readonly holder: string | null;
    readonly node: string | null;
    readonly epoch: number;
    readonly alive: boolean;
  };
  readonly schedulers: readonly SchedulerRow[];
  /** Those that live, and the newest of every node. */
  readonly executors: readonly SampledExecutor[];
  /** Shards that could run and wait. */
  readonly backlog: number;
  readonly staleWrites: number;
}

/** The namespace of the drill's own jobs. */
export const probeNamespace = "drill";

export async function sampleCluster(db: Queryable): Promise<ClusterSample> {
  const { rows } = await db.query<{
    now: Date;
    holder: string | null;
    node: string | null;
    epoch: number;
    alive: boolean;
    backlog: number;
    staleWrites: number;
  }>(
    `SELECT clock_timestamp() AS now, l.holder, l.node, l.epoch, l.holder IS NOT NULL AND l.expires_at > clock_timestamp() AS alive,
       (SELECT count(*)::integer FROM escapement.shard_live WHERE owner IS NULL AND run_after <= clock_timestamp()) AS backlog,
       (SELECT count(*)::integer FROM escapement.stale_write) AS "staleWrites"
     FROM escapement.leader l`,
  );
  const { now, backlog, staleWrites, ...leader } = rows[0]!;
  const executors = await db.query<SampledExecutor>(
    `SELECT incarnation, node, host, pid, state, lease_ms AS "leaseMs", lease_until AS "leaseUntil",
       lease_until < clock_timestamp() AS expired, started_at AS "startedAt", offset_ms AS "offsetMs",
       cpu_slots AS cpu, memory_slots AS memory, io_slots AS io,
       (SELECT count(*)::integer FROM escapement.shard_live s JOIN escapement.job j USING (job_id)
        WHERE s.owner = x.incarnation AND j.namespace = $1) AS probes
     FROM (SELECT *, row_number() OVER (PARTITION BY node ORDER BY started_at DESC) AS nth FROM escapement.executor) x
     WHERE state IN ('active', 'draining') OR nth = 1 ORDER BY node, started_at`,
    [probeNamespace],
  );
  return {
    now,
    leader,
    backlog,
    staleWrites,
    schedulers: await listSchedulers(db),
    executors: executors.rows,
  };
}

/** The database's time now. */
export async function readNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return rows[0]!.now;
}

/**
 * What says that something is badly wrong: critical, and neither resolved nor,
 * if nobody resolves it, older than some minutes. What came up during a drill
 * came of it, and keeps no other from beginning.
 */
export async function openCriticalAlerts(db: Queryable, minutes: number): Promise<string[]> {
  const { rows } = await db.query<{ message: string }>(
    `SELECT a.message FROM escapement.alert_outbox a
     WHERE a.severity = 'critical' AND a.resolved_at IS NULL
       AND (NOT a.watched OR a.opened_at IS NOT NULL)
       AND (a.watched OR a.last_at > clock_timestamp() - make_interval(mins => $1))
       AND NOT EXISTS (SELECT 1 FROM escapement.drill_run r
         WHERE a.first_at >= r.started_at AND a.first_at <= coalesce(r.ended_at, clock_timestamp()))
     ORDER BY a.last_at DESC LIMIT 5`,
    [minutes],
  );
  return rows.map(({ message }) => message);
}
