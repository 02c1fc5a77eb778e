/**
 * A cluster on which every item of the checklist has something to say, and
 * nothing to complain of: rows in a database, and job files. Tests break one
 * thing of it at a time.
 */
import { randomUUID } from "node:crypto";
import type { CheckContext, CheckedDefinitions, DrillRecord } from "../../src/checklist/context.ts";
import { defaultEvidenceAges } from "../../src/checklist/context.ts";
import type { ResolvedJob } from "../../src/spec/definitions.ts";
import { digest } from "../../src/spec/digest.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { Database, Queryable } from "../../src/store/database.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { goodCluster, goodInventory, goodWatch } from "./good-files.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** @param store a database, or why there is none */
export function contextOf(store: Queryable | string, change: Partial<CheckContext> = {}): CheckContext {
  const now = new Date();
  return {
    store:
      typeof store === "string"
        ? { state: "unreachable", reason: store }
        : { state: "open", db: store, now: () => databaseTime(store) },
    definitions: { root: "/nowhere", jobs: [], allJobs: [], digest: "0".repeat(64) },
    hosts: [],
    tier: "machines",
    window: { from: new Date(now.getTime() - 400 * dayMs), to: now },
    maxAgeMs: defaultEvidenceAges,
    drills: {
      historyOf: async (drillClass) => {
        if (typeof store === "string") throw new Error(store);
        return drillHistory(store, drillClass);
      },
    },
    at: () => new Date().toISOString(),
    itemTimeoutMs: 30_000,
    signal: new AbortController().signal,
    ...change,
  };
}

async function databaseTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return rows[0]!.now;
}

async function drillHistory(db: Queryable, drillClass: string): Promise<DrillRecord[]> {
  const { rows } = await db.query<DrillRecord>(
    `SELECT run_id AS "runId", drill, class, started_at AS "startedAt", ended_at AS "endedAt", verdict, reason, targets, summary
     FROM escapement.drill_run WHERE class = $1 AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 50`,
    [drillClass],
  );
  return rows;
}

/** A nightly payout, a report every hour, and one job that people run. */
export function goodJobs(): JobDefinition[] {
  const all = {
    namespace: "pay",
    environment: {},
    timeZone: "Europe/London",
    retry: { maxAttempts: 4, delaysMs: [60_000] },
    leaseMs: 30_000,
    resources: { class: "cpu", peakMemoryBytes: 1 << 27 },
    onStoreLoss: "kill",
    docs: "docs/payments.md#after-a-stop",
  } as const;
  return [
    {
      ...all,
      name: "bonus",
      command: ["node", "/opt/pay/bonus.mjs"],
      schedule: { kind: "cron", cron: "0 2 * * *" },
      dstGap: "run-at-transition",
      dstOverlap: "first",
      misfire: { policy: "run-now", thresholdMs: 60_000 },
      blocking: { policy: "queue", maxQueued: 3 },
      catchUp: { maxFires: 3, keep: "oldest" },
      timeoutMs: 20 * minuteMs,
      shards: { by: "hash", count: 4, key: "person_id", heavy: [] },
      effects: [
        {
          kind: "table",
          target: "bonus",
          key: ["period", "person_id"],
          mode: "insert",
          sources: ["jobs/bonus.sql"],
        },
      ],
    },
    {
      ...all,
      name: "report",
      command: ["/opt/pay/report.sh"],
      schedule: { kind: "cron", cron: "15 * * * *" },
      dstGap: "skip",
      dstOverlap: "both",
      misfire: { policy: "skip", thresholdMs: 60_000 },
      blocking: { policy: "forbid" },
      catchUp: { maxFires: 0, keep: "newest" },
      timeoutMs: 10 * minuteMs,
      shards: { by: "none" },
      effects: [
        {
          kind: "message",
          target: "reports",
          key: ["fire_time"],
          mode: "insert",
          sources: ["jobs/report.py"],
        },
      ],
    },
    {
      ...all,
      name: "by-hand",
      command: ["/opt/pay/by-hand.sh"],
      schedule: { kind: "manual" },
      misfire: { policy: "run-now", thresholdMs: 60_000 },
      blocking: { policy: "forbid" },
      catchUp: { maxFires: 0, keep: "oldest" },
      timeoutMs: 10 * minuteMs,
      shards: { by: "none" },
      effects: [
        {
          kind: "message",
          target: "reports",
          key: ["fire_time"],
          mode: "insert",
          sources: ["jobs/report.py"],
        },
      ],
    },
  ];
}

export function resolved(definition: JobDefinition): ResolvedJob {
  return { definition, digest: digest(definition), file: `jobs/${definition.name}.yaml`, line: 1, column: 1 };
}

export function definitionsOf(root: string, jobs: readonly JobDefinition[] = goodJobs()): CheckedDefinitions {
  const all = jobs.map(resolved);
  return {
    root,
    jobs: all,
    allJobs: all,
    cluster: { definition: goodCluster, file: "cluster.yaml", line: 1 },
    inventory: { definition: goodInventory, file: "inventory.yaml", line: 1 },
    watch: { definition: goodWatch, file: "watch.yaml", line: 1 },
    digest: digest(jobs),
  };
}

/** Months of records, processes that live, drills that passed. */
export async function fillStore(db: Database): Promise<void> {
  await db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp() - interval '2 months', clock_timestamp() + interval '1 month')",
  );
  for (const job of goodJobs()) await applyJob(db, job, digest(job), { person: "tester", reason: "test" });
  // Seventy nights of a payout and two days of reports, each with its shard.
  await db.query(
    `WITH fires AS (
       SELECT j.job_id, f AS fire_time, CASE j.name WHEN 'bonus' THEN 600000 + n * 100 ELSE 30000 END AS duration_ms
       FROM escapement.job j CROSS JOIN LATERAL (
         SELECT f, row_number() OVER () AS n FROM generate_series(
           date_trunc('hour', clock_timestamp()) - CASE j.name WHEN 'bonus' THEN interval '59 days' ELSE interval '2 days' END,
           clock_timestamp() - interval '1 hour', CASE j.name WHEN 'bonus' THEN interval '1 day' ELSE interval '1 hour' END) f) s
       WHERE j.name IN ('bonus', 'report')
     ), executions AS (
       INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, planned_at,
         opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds, epoch)
       SELECT job_id, fire_time, 'schedule', 'success', 1, 'd', 1, fire_time, fire_time - interval '2 minutes', fire_time, fire_time,
         fire_time + make_interval(secs => duration_ms / 1000.0), duration_ms, 0, 1 FROM fires)
     INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt) SELECT job_id, fire_time, 0, 'success', 1 FROM fires`,
  );
  await fillProcesses(db);
  await fillEvidence(db);
}

/** Alive for an hour without a sign: nothing renews them, and on a slow machine a file of tests takes longer than a minute. */
async function fillProcesses(db: Database): Promise<void> {
  const leader = randomUUID();
  await db.query(
    "UPDATE escapement.leader SET holder = $1, node = 'scheduler-1', host = 'sched-1', epoch = 1, acquired_at = clock_timestamp(), expires_at = clock_timestamp() + interval '1 hour'",
    [leader],
  );
  for (const [incarnation, n, role] of [
    [leader, 1, "leader"],
    [randomUUID(), 2, "standby"],
  ] as const) {
    await db.query(
      `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, offset_ms, last_seen)
       VALUES ($1, $2, $3, $4, '1.0.0', '2026a', $5, 2, clock_timestamp() + interval '1 hour')`,
      [incarnation, `scheduler-${n}`, `sched-${n}`, 4000 + n, role],
    );
  }
  for (const n of [1, 2]) {
    await db.query(
      `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
         cpu_slots, memory_slots, io_slots, offset_ms)
       VALUES ($1, $2, $3, 'boot', $4, 'start', '1.0.0', 'active', 3600000, clock_timestamp() + interval '1 hour', 4, 4, 4, -3)`,
      [randomUUID(), `executor-${n}`, `exec-${n}`, 5000 + n],
    );
  }
}

export const drillClasses = ["executor-killed", "network-cut", "clock-skewed", "primary-stopped"] as const;

async function fillEvidence(db: Database): Promise<void> {
  // Twenty minutes to the hour: what ran while a drill was on does not count, and jobs run at full hours.
  for (const [i, drillClass] of drillClasses.entries()) {
    await db.query(
      `INSERT INTO escapement.drill_run (run_id, drill, class, digest, person, trigger_type, version, controller, lease_until, state,
         targets, started_at, fault_at, restored_at, ended_at, verdict, reason, summary)
       SELECT gen_random_uuid(), $1, $1, 'd', 'tester', 'schedule', '1.0.0', 'watch-1', t, 'ended', '["exec-1"]', t, t, t, t, 'pass',
         'as it should be', '{"proof": {"inEffect": true}}' FROM (SELECT date_trunc('hour', clock_timestamp()) - make_interval(days => 1, hours => $2, mins => 20) AS t) n`,
      [drillClass, i],
    );
  }
  await db.query(
    `INSERT INTO escapement.watchman (node, host, pid, version, started_at, last_pass_at, grace_until)
     VALUES ('watchman', 'watch-1', 6001, '1.0.0', clock_timestamp() - interval '1 day', clock_timestamp() + interval '1 hour', clock_timestamp())`,
  );
  await db.query(
    `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, message, watched, opened_at, resolved_at)
     VALUES ('test-alert:x', 'test-alert', 'info', 'This is a test', true, clock_timestamp(), clock_timestamp())`,
  );
  await db.query(
    `INSERT INTO escapement.alert_delivery (message_id, channel, alert_key, message, state, created_at, accepted_at)
     SELECT 'test-1', c, 'test-alert:x', '{}', 'accepted', clock_timestamp() - interval '2 days', clock_timestamp() - interval '2 days'
     FROM unnest(ARRAY['pager', 'mail']) c`,
  );
  await db.query(
    "INSERT INTO escapement.store_disk (host, path, total_bytes, free_bytes) VALUES ('db-1', '/var/lib/postgresql', 1e12, 6e11)",
  );
  await db.query(
    `INSERT INTO escapement.backup_record (at, kind, person, host, what, bytes, checked, ok)
     SELECT clock_timestamp() - interval '2 hours', k, 'tester', 'db-1', 'schema escapement', 1000, '{"tables": {"execution": [120, 120]}}', true
     FROM unnest(ARRAY['backup', 'restore']) k`,
  );
}
