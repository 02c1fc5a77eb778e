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

/**
 * The lease ends while the statement runs: by the time at which it began, as
 * `now()` has it, it would still hold. The rows belong to job −2, which does not exist.
 */
export function tryLease(db: Queryable): Promise<Trial<LeaseTrial>> {
  const executor = (who: string, lease: string) =>
    `  INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
      cpu_slots, memory_slots, io_slots)
    VALUES (${who}, 'trial-' || ${who}, 'trial', 'trial', 1, 'trial', 'trial', 'active', 60000, clock_timestamp() + interval '${lease}', 0, 0, 0);`;
  const complete = (who: string, shard: number, token: number) =>
    `cardinality(escapement.complete(${who}, ARRAY[-2], ARRAY[fire], ARRAY[${shard}], ARRAY[${token}]::bigint[], ARRAY['success'],
      ARRAY[0]::bigint[], ARRAY[NULL]::bigint[], ARRAY[NULL]::integer[], ARRAY[NULL]::text[])) = 0`;
  return undone<LeaseTrial>(
    db,
    `  dead uuid := gen_random_uuid();
  alive uuid := gen_random_uuid();
  fire timestamptz := date_trunc('milliseconds', clock_timestamp());
  renewed boolean; claimed boolean; completed boolean; old_token boolean; reaped boolean; is_free boolean;`,
    `${executor("dead", "80 milliseconds")}
${executor("alive", "1 minute")}
  INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, tries, attempt, run_after,
      owner, fence_token, start_time)
    VALUES (-2, fire, 0, 4, false, false, 3, 1, 1, fire, dead, 5, fire), (-2, fire, 1, 4, false, false, 3, 1, 1, fire, alive, 7, fire);
  old_token := ${complete("alive", 1, 6)};
  PERFORM pg_sleep(0.15);
  renewed := escapement.executor_renew(dead, NULL) IS NOT NULL;
  BEGIN
    PERFORM * FROM escapement.claim(dead, 4::smallint, 0, false, 0.5);
    claimed := true;
  EXCEPTION WHEN SQLSTATE 'ES002' THEN claimed := false;
  END;
  completed := ${complete("dead", 0, 5)};
  SELECT escapement.reap(dead, x.lease_until) = 1 INTO reaped FROM escapement.executor x WHERE x.incarnation = dead;
  SELECT l.owner IS NULL INTO is_free FROM escapement.shard_live l WHERE l.job_id = -2 AND l.fire_time = fire AND l.shard_no = 0;
  found := jsonb_build_object('renewed', renewed, 'claimed', claimed, 'completed', completed, 'oldToken', old_token,
    'reaped', coalesce(reaped, false), 'free', coalesce(is_free, false));`,
  );
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
