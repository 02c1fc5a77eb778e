/** The watchman as the records show it: that it lives, under which login, and what it has delivered. */
import type { Queryable } from "../database.ts";
import { type AppliedSchedule, scheduleOf } from "./applied-jobs.ts";
import { type Look, look } from "./look.ts";

export interface WatchmanState {
  readonly node: string;
  readonly host: string;
  /** Since its last pass. */
  readonly ageMs: number;
  /** It was asked to end, however lately it has looked. */
  readonly stopped: boolean;
}

/** Those that were not stopped first, the one with the latest pass before the others. */
export function readWatchmen(db: Queryable): Promise<Look<WatchmanState>> {
  return look<WatchmanState>(
    db,
    `SELECT node, host, (extract(epoch FROM clock_timestamp() - last_pass_at) * 1000)::double precision AS "ageMs", pid = 0 AS stopped
     FROM escapement.watchman ORDER BY pid = 0, last_pass_at DESC`,
  );
}

export interface WorkingHost {
  readonly part: "scheduler" | "executor";
  readonly node: string;
  readonly host: string;
}

/** Where schedulers and executors live, by the records. One that takes nothing but drills is no part of what is watched. */
export function readWorkingHosts(db: Queryable, silentMs: number): Promise<Look<WorkingHost>> {
  return look<WorkingHost>(
    db,
    `SELECT 'scheduler' AS part, node, host FROM escapement.scheduler
     WHERE role <> 'stopped' AND last_seen > clock_timestamp() - make_interval(secs => $1 / 1000.0)
     UNION SELECT 'executor', node, host FROM escapement.executor WHERE state IN ('active', 'draining') AND lease_until > clock_timestamp()
       AND (control_slots = 0 OR cpu_slots + memory_slots + io_slots > 0)
     ORDER BY 1, 2`,
    [silentMs],
  );
}

export interface PartLogin {
  readonly part: "scheduler" | "executor" | "watchman";
  readonly login: string;
  readonly superuser: boolean;
  /** May write what schedulers write, or what executors write although it runs no drills. */
  readonly mayWork: boolean;
}

/** The logins of the sessions of each part, without executors that take nothing but drills: they run on the watchman's host. */
export function readPartLogins(db: Queryable): Promise<Look<PartLogin>> {
  return look<PartLogin>(
    db,
    `WITH sessions AS (
       SELECT a.usesysid AS login, substring(a.application_name FROM '^escapement-(scheduler|executor|watchman)') AS part,
         EXISTS (SELECT 1 FROM escapement.executor x WHERE a.application_name LIKE 'escapement-executor %'
                 AND x.node = split_part(a.application_name, ' ', 2) AND x.lease_until > clock_timestamp()
                 AND x.control_slots > 0 AND x.cpu_slots + x.memory_slots + x.io_slots = 0) AS "drillsOnly"
       FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.application_name ~ '^escapement-(scheduler|executor|watchman)')
     SELECT DISTINCT s.part, r.rolname AS login, r.rolsuper AS superuser,
       pg_has_role(r.oid, 'escapement_scheduler', 'MEMBER') OR pg_has_role(r.oid, 'escapement_executor', 'MEMBER')
         AND NOT EXISTS (SELECT 1 FROM sessions d WHERE d.login = s.login AND d."drillsOnly") AS "mayWork"
     FROM sessions s JOIN pg_roles r ON r.oid = s.login WHERE NOT s."drillsOnly"`,
  );
}

export interface TestDelivery {
  readonly channel: string;
  readonly state: "pending" | "accepted" | "failed";
  /** Since it was accepted; of others since it was queued. */
  readonly ageMs: number;
  readonly lastError: string | null;
}

/** The newest test alert of each channel and state. */
export function readTestDeliveries(db: Queryable): Promise<Look<TestDelivery>> {
  return look<TestDelivery>(
    db,
    `SELECT DISTINCT ON (channel, state) channel, state,
       (extract(epoch FROM clock_timestamp() - coalesce(accepted_at, created_at)) * 1000)::double precision AS "ageMs", last_error AS "lastError"
     FROM escapement.alert_delivery WHERE alert_key LIKE 'test-alert:%' ORDER BY channel, state, created_at DESC`,
  );
}

export interface SuccessState {
  readonly jobId: number;
  readonly job: string;
  readonly activeSince: Date;
  readonly lastSuccess: Date | null;
  readonly running: boolean;
  /** Somebody was told of an open alert about this job, or of a critical one about the whole cluster. */
  readonly told: boolean;
  /** When it fires by the version in force. */
  readonly fires: AppliedSchedule;
}

/** Of every active job: its last success, and whether the watchman has an open alert that covers it. */
export function readSuccessStates(db: Queryable): Promise<Look<SuccessState>> {
  return look<SuccessState>(
    db,
    `SELECT j.job_id AS "jobId", j.namespace || '/' || j.name AS job, greatest(j.state_since, j.known_since, v.effective_from) AS "activeSince",
       (SELECT max(e.fire_time) FROM escapement.execution e WHERE e.job_id = j.job_id AND e.status = 'success') AS "lastSuccess",
       EXISTS (SELECT 1 FROM escapement.execution_live l WHERE l.job_id = j.job_id AND l.started) AS running,
       EXISTS (SELECT 1 FROM escapement.alert_outbox a WHERE a.resolved_at IS NULL AND a.watched
               AND a.told_at IS NOT NULL AND a.told_severity <> 'info'
               AND (a.job_id = j.job_id OR a.job_id IS NULL AND a.severity = 'critical')) AS told,
       ${scheduleOf("v.definition")} AS fires
     FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version
     WHERE j.state = 'active'`,
  );
}
