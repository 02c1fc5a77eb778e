/** A store that looks like the middle of a working day: for frames, pictures and measurements of the screens. */
import { randomUUID } from "node:crypto";
import { digest } from "../../src/spec/digest.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { Database } from "../../src/store/database.ts";
import { testJob } from "./job.ts";

export interface UiStoreOptions {
  /** Besides the eight that have names. */
  readonly moreJobs?: number;
  /** Of the execution of `settlement` that failed. */
  readonly shards?: number;
  /** A drill whose fault lasts right now. */
  readonly drill?: boolean;
}

interface Sample {
  readonly name: string;
  readonly cron: string;
  readonly everyMinutes: number;
  readonly seconds: number;
  readonly change?: Partial<JobDefinition>;
}

const samples: readonly Sample[] = [
  {
    name: "settlement",
    cron: "0 */2 * * *",
    everyMinutes: 120,
    seconds: 412,
    change: { description: "Settles the day's payments with every bank." },
  },
  { name: "reconciliation", cron: "30 * * * *", everyMinutes: 60, seconds: 95 },
  { name: "bonus-payout", cron: "0 6 * * *", everyMinutes: 1_440, seconds: 1_310 },
  { name: "ledger-export", cron: "*/15 * * * *", everyMinutes: 15, seconds: 21 },
  { name: "fraud-features", cron: "*/10 * * * *", everyMinutes: 10, seconds: 44 },
  { name: "statement-mail", cron: "5 4 * * *", everyMinutes: 1_440, seconds: 640 },
  { name: "rate-refresh", cron: "*/5 * * * *", everyMinutes: 5, seconds: 3 },
  { name: "risk-report", cron: "45 * * * *", everyMinutes: 60, seconds: 180 },
];

/** Fills a migrated, empty store. @returns the database's time that everything is arranged around */
export async function fillUiStore(
  db: Database,
  options: UiStoreOptions = {},
): Promise<{ now: Date; failed: { job: string; fireTime: Date } }> {
  const { moreJobs = 0, shards = 64, drill = false } = options;
  const all: Sample[] = [...samples];
  for (let i = 0; i < moreJobs; i++)
    all.push({
      name: `tenant-${String(i).padStart(4, "0")}`,
      cron: `${i % 60} ${i % 24} * * *`,
      everyMinutes: 1_440,
      seconds: 5 + (i % 50),
    });
  const { rows } = await db.query<{ now: Date }>(
    "SELECT clock_timestamp() AS now, escapement.ensure_partitions(clock_timestamp() - interval '33 days', clock_timestamp() + interval '1 day')",
  );
  const now = rows[0]!.now;
  for (let i = 0; i < all.length; i += 500) await addJobs(db, all.slice(i, i + 500), i);
  await addFires(db, all);
  const failed = await addTrouble(db, shards);
  await addCluster(db);
  await addRunning(db);
  await addBooks(db, drill);
  await addChecklist(db);
  await addDisks(db);
  await addTimetable(db);
  await db.query("ANALYZE");
  return { now, failed };
}

async function addJobs(db: Database, some: readonly Sample[], from: number): Promise<void> {
  const rows = some.map(({ name, cron, change }) => {
    const definition = testJob(name, {
      schedule: { kind: "cron", cron },
      timeZone: name.startsWith("tenant") ? "UTC" : "Europe/Berlin",
      dstGap: "run-at-transition",
      dstOverlap: "first",
      misfire: { policy: "run-now", thresholdMs: 60_000 },
      blocking: { policy: "queue", maxQueued: 2 },
      ...change,
    });
    return { name, digest: digest(definition), definition };
  });
  await db.query(
    `WITH made AS (
       INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
       SELECT 'default', r ->> 'name', CASE WHEN r ->> 'name' = 'statement-mail' THEN 'paused' ELSE 'active' END, 1, clock_timestamp() - interval '40 days', clock_timestamp() + interval '1 day'
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY e(r, n) ORDER BY n RETURNING job_id, name)
     INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
     SELECT m.job_id, 1, r ->> 'digest', r -> 'definition', clock_timestamp() - interval '40 days', 'sample'
     FROM made m JOIN jsonb_array_elements($1::jsonb) r ON r ->> 'name' = m.name`,
    [JSON.stringify(rows)],
  );
  if (from === 0)
    await db.query(
      "UPDATE escapement.job SET state_reason = 'the mail relay moves' WHERE name = 'statement-mail'",
    );
}

/** Successes over 26 hours; those that fire once a day or less often, over 30 days. */
async function addFires(db: Database, all: readonly Sample[]): Promise<void> {
  await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, opened_at,
       actual_start_time, actual_end_time, duration_ms, missed_seconds, epoch)
     SELECT j.job_id, f, 'schedule', 'success', 1, 'x', 1, f, f + interval '20 ms', f + interval '40 ms', f + make_interval(secs => d), (d * 1000)::bigint,
       CASE WHEN s.name = 'risk-report' AND extract(hour FROM f)::int % 7 = 3 THEN 95 ELSE 0.04 END, 12
     FROM unnest($1::text[], $2::double precision[], $3::double precision[]) s(name, every, seconds)
     JOIN escapement.job j ON j.name = s.name AND j.namespace = 'default'
     CROSS JOIN LATERAL generate_series(
       to_timestamp(floor(extract(epoch FROM clock_timestamp() - CASE WHEN s.every >= 1440 THEN interval '12 days' ELSE interval '26 hours' END) / (s.every * 60)) * s.every * 60) + make_interval(mins => CASE WHEN s.every >= 1440 THEN (j.job_id % 1440) ELSE 0 END),
       clock_timestamp() - interval '1 minute', make_interval(mins => s.every::int)) f
     CROSS JOIN LATERAL (SELECT s.seconds * (0.8 + 0.4 * abs(sin(extract(epoch FROM f) / 7000 + j.job_id))) AS d) x`,
    [
      all.map(({ name }) => name),
      all.map(({ everyMinutes }) => everyMinutes),
      all.map(({ seconds }) => seconds),
    ],
  );
}

/** One execution that failed in two shards, one that runs, misses, a blocked one. */
async function addTrouble(db: Database, shards: number): Promise<{ job: string; fireTime: Date }> {
  const executors = [randomUUID(), randomUUID(), randomUUID()];
  for (const [i, incarnation] of executors.entries()) {
    await db.query(
      `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until, cpu_slots, memory_slots, io_slots, offset_ms, started_at, time_source)
       VALUES ($1, $2, $3, 'b', $4, 's', '0.1.0', 'active', 15000, clock_timestamp() + interval '1 hour', 16, 4, 8, $5, clock_timestamp() - interval '3 days', '{"daemon":"chrony","synchronised":true}')`,
      [incarnation, `executor-${i + 1}`, `batch-0${i + 1}`, 4_100 + i, [0.4, -1.2, 38][i]],
    );
  }
  const { rows } = await db.query<{ fireTime: Date }>(
    `UPDATE escapement.execution e SET status = 'failed', shard_count = $1::integer, reason = '2 of ' || $1::integer || ' shards failed', execution_id = gen_random_uuid()
     FROM escapement.job j WHERE j.job_id = e.job_id AND j.name = 'settlement'
       AND e.fire_time = (SELECT max(fire_time) FROM escapement.execution x WHERE x.job_id = j.job_id)
     RETURNING e.fire_time AS "fireTime"`,
    [shards],
  );
  const fireTime = rows[0]!.fireTime;
  await db.query(
    `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, owner, fence_token, start_time, end_time, rows, error)
     SELECT j.job_id, $2, n, CASE WHEN n IN (7, 41) THEN 'failed' ELSE 'success' END, CASE WHEN n IN (7, 41) THEN 3 ELSE 1 END, ($3::uuid[])[n % 3 + 1], n + 1,
       $2::timestamptz + make_interval(secs => n % 5), $2::timestamptz + make_interval(secs => n % 5 + 60 + 300 * abs(sin(n))), 1000 + n % 777,
       CASE WHEN n = 7 THEN 'exit code 1: bank 7 answers 503' WHEN n = 41 THEN 'killed: no end within 10m' END
     FROM escapement.job j, generate_series(0, $1::integer - 1) n WHERE j.name = 'settlement'`,
    [shards, fireTime, executors],
  );
  await db.query(
    `INSERT INTO escapement.shard_attempt (job_id, fire_time, shard_no, attempt, outcome, owner, start_time, end_time, exit_code, error)
     SELECT j.job_id, $1, 7, a, CASE WHEN a = 3 THEN 'failed' ELSE 'retry' END, $2, $1::timestamptz + make_interval(mins => a * 2), $1::timestamptz + make_interval(mins => a * 2, secs => 44), 1, 'exit code 1: bank 7 answers 503'
     FROM escapement.job j, generate_series(1, 3) a WHERE j.name = 'settlement'`,
    [fireTime, executors[1]],
  );
  await db.query(
    `UPDATE escapement.execution e SET status = 'missed', reason = 'no scheduler led between 04:10 and 04:52; later than the misfire window of 30m', actual_start_time = NULL, actual_end_time = NULL, duration_ms = NULL, missed_seconds = NULL
     FROM escapement.job j WHERE j.job_id = e.job_id AND j.name IN ('ledger-export', 'fraud-features')
       AND e.fire_time BETWEEN clock_timestamp() - interval '9 hours' AND clock_timestamp() - interval '8 hours 25 minutes'`,
  );
  await db.query(
    `UPDATE escapement.execution e SET status = 'blocked', reason = 'the execution before still ran', actual_start_time = NULL, duration_ms = NULL
     FROM escapement.job j WHERE j.job_id = e.job_id AND j.name = 'reconciliation'
       AND e.fire_time = (SELECT max(fire_time) FROM escapement.execution x WHERE x.job_id = j.job_id AND x.fire_time < clock_timestamp() - interval '5 hours')`,
  );
  return { job: "settlement", fireTime };
}

async function addCluster(db: Database): Promise<void> {
  const [leader, standby] = [randomUUID(), randomUUID()];
  await db.query(
    "UPDATE escapement.leader SET holder = $1, node = 'scheduler-1', host = 'sched-01', epoch = 12, acquired_at = clock_timestamp() - interval '3 days', expires_at = clock_timestamp() + interval '1 hour'",
    [leader],
  );
  for (const [incarnation, n] of [
    [leader, 1],
    [standby, 2],
  ] as const)
    await db.query(
      `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, started_at, last_seen, offset_ms, holds_virtual_address, time_source)
       VALUES ($1, $2, $3, $4, '0.1.0', '2026a', $5, clock_timestamp() - interval '3 days', clock_timestamp() + interval '1 hour', $6, $7, '{"daemon":"chrony","synchronised":true}')`,
      [
        incarnation,
        `scheduler-${n}`,
        `sched-0${n}`,
        2_000 + n,
        n === 1 ? "leader" : "standby",
        n === 1 ? 0.2 : -3.1,
        n === 1,
      ],
    );
  await db.query(
    "INSERT INTO escapement.watchman VALUES ('watch-1', 'watch-01', 900, '0.1.0', clock_timestamp() - interval '3 days', clock_timestamp() + interval '1 hour', clock_timestamp() - interval '3 days')",
  );
}

async function addBooks(db: Database, drillIsOn: boolean): Promise<void> {
  await db.query(
    `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, job, message, cause, hint, watched, opened_at, first_at, last_at, told_at) VALUES
     ('fire-failed:settlement', 'fire-failed', 'critical', 'default/settlement', 'settlement failed: 2 of 64 shards', 'bank 7 answers 503', 'escapement rerun settlement FIRE --failed', true, clock_timestamp() - interval '34 minutes', clock_timestamp() - interval '34 minutes', clock_timestamp(), clock_timestamp() - interval '33 minutes'),
     ('clock-offset:executor-3', 'clock-offset', 'warning', NULL, 'the clock of executor-3 is 38 ms ahead', NULL, NULL, true, clock_timestamp() - interval '2 hours', clock_timestamp() - interval '2 hours', clock_timestamp(), clock_timestamp() - interval '2 hours')`,
  );
  const drills: readonly [drill: string, kind: string, verdict: string, reason: string][] = [
    [
      "kill-executor",
      "executor-killed",
      "pass",
      "the shard ran again on executor-2 after 17.2 s; nothing lost, nothing twice",
    ],
    [
      "cut-network",
      "network-cut",
      "pass",
      "12 fires in the window, all once; the leader gave up after 9.8 s",
    ],
    ["skew-clock", "clock-skewed", "unknown", "needs-vm: a container cannot set its clock"],
    ["stop-primary", "primary-stopped", "pass", "the standby led after 11.8 s; 4 fires late, none lost"],
    ["pause-executor", "executor-paused", "pass", "3 stale writes refused"],
    [
      "kill-executor",
      "executor-killed",
      "fail",
      "restart-late: the unit ran again after 74 s, 60 s are allowed",
    ],
  ];
  for (const [i, [drill, kind, verdict, reason]] of drills.entries())
    await db.query(
      `INSERT INTO escapement.drill_run (run_id, drill, class, digest, person, trigger_type, version, controller, lease_until, state, targets,
         started_at, fault_at, restored_at, ended_at, verdict, reason, summary)
       SELECT gen_random_uuid(), $1, $2, 'x', 'timetable', 'schedule', '0.1.0', 'watch-01', t, 'ended', '[{"host":"batch-01","node":"executor-1","part":"executor"}]',
         t, t + interval '12 s', t + interval '42 s', t + interval '118 s', $3, $4, '{"fires": 41, "attempts": 44, "lost": 0, "duplicates": 0, "staleWritesRefused": 3}'
       FROM (SELECT clock_timestamp() - make_interval(days => $5::integer) AS t) x`,
      [drill, kind, verdict, reason, 1 + i * 2],
    );
  if (drillIsOn)
    await db.query(
      `INSERT INTO escapement.drill_run (run_id, drill, class, digest, person, trigger_type, version, controller, lease_until, state, targets, started_at, fault_at)
       VALUES (gen_random_uuid(), 'cut-network', 'network-cut', 'x', 'ada', 'manual', '0.1.0', 'watch-01', clock_timestamp() + interval '1 hour', 'fault',
         '[{"host":"batch-02","node":"executor-2","part":"executor"}]', clock_timestamp() - interval '31 s', clock_timestamp() - interval '14 s')`,
    );
}

/** The latest fire of fraud-features runs: 20 of 48 shards done, 12 at work. */
async function addRunning(db: Database): Promise<void> {
  await db.query(
    `WITH fire AS (
       UPDATE escapement.execution e SET status = 'running', shard_count = 48, actual_end_time = NULL, duration_ms = NULL
       FROM escapement.job j WHERE j.job_id = e.job_id AND j.name = 'fraud-features'
         AND e.fire_time = (SELECT max(fire_time) FROM escapement.execution x WHERE x.job_id = j.job_id)
       RETURNING e.job_id, e.fire_time),
     live AS (
       INSERT INTO escapement.execution_live (job_id, fire_time, state, due_at, trigger_type, started, remaining, class, max_tries, misfire_threshold_ms, blocking, continue_fenced, freezes)
       SELECT job_id, fire_time, 'open', fire_time, 'schedule', true, 28, 1, 3, 60000, 'queue', false, false FROM fire),
     shards AS (
       INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, start_time, end_time, rows)
       SELECT job_id, fire_time, n, CASE WHEN n < 20 THEN 'success' ELSE 'pending' END, CASE WHEN n < 20 THEN 1 ELSE 0 END,
         CASE WHEN n < 20 THEN fire_time + interval '1 s' END, CASE WHEN n < 20 THEN fire_time + interval '30 s' END, CASE WHEN n < 20 THEN 5200 END
       FROM fire, generate_series(0, 47) n)
     INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, tries, attempt, run_after, owner, fence_token, start_time)
     SELECT job_id, fire_time, n, 1, false, false, 3, 1, CASE WHEN n = 23 THEN 2 ELSE 1 END, fire_time,
       CASE WHEN n < 32 THEN (SELECT incarnation FROM escapement.executor WHERE node = 'executor-' || (n % 3 + 1)) END, CASE WHEN n < 32 THEN 7000 + n END,
       CASE WHEN n < 32 THEN clock_timestamp() - interval '40 s' END
     FROM fire, generate_series(20, 47) n`,
  );
}

async function addChecklist(db: Database): Promise<void> {
  const verdicts = [
    "pass",
    "pass",
    "pass",
    "pass",
    "pass",
    "pass",
    "fail",
    "pass",
    "pass",
    "pass",
    "pass",
    "pass",
    "unknown",
    "waived",
    "pass",
  ];
  const sentences: Record<number, string> = {
    6: "job ledger-export declares an effect without a key",
    12: "skew-clock has not passed within 35 days",
    13: "no restore within 90 days; waived until 2026-12-15",
  };
  const items = verdicts.map((verdict, number) => ({
    number,
    verdict,
    message: sentences[number] ?? "as it should be",
    open:
      verdict === "pass"
        ? []
        : [
            {
              scope: {
                kind: number === 6 ? "job" : "cluster",
                name: number === 6 ? "default/ledger-export" : "settlement",
              },
              verdict,
            },
          ],
    passed: 8,
  }));
  for (const [days, change] of [
    [7, { 6: "pass" }],
    [0.2, {}],
  ] as const)
    await db.query(
      `INSERT INTO escapement.checklist_run (run_id, at, person, version, definitions_digest, outcome, items)
       VALUES (gen_random_uuid(), clock_timestamp() - make_interval(secs => $1::double precision * 86400), 'ada', '0.1.0', 'x', 'fail', $2)`,
      [
        days,
        JSON.stringify(
          items.map((item) => ({
            ...item,
            verdict: (change as Record<number, string>)[item.number] ?? item.verdict,
          })),
        ),
      ],
    );
}

async function addDisks(db: Database): Promise<void> {
  await db.query(
    "INSERT INTO escapement.store_disk (host, path, total_bytes, free_bytes) VALUES ('store-01', '/var/lib/postgresql', 480000000000, 391000000000), ('store-01', '/var/lib/postgresql/wal', 120000000000, 97000000000)",
  );
}

/** Drills on the timetable are jobs that only the watchman's host runs. */
async function addTimetable(db: Database): Promise<void> {
  for (const [i, name] of ["kill-executor", "cut-network", "skew-clock", "stop-primary"].entries()) {
    const definition = testJob(name, {
      namespace: "drills",
      schedule: { kind: "cron", cron: `${15 * i} 11 * * ${i + 1}` },
      timeZone: "Europe/Berlin",
      resources: { class: "control", peakMemoryBytes: 1 },
    });
    await db.query(
      `WITH made AS (INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
         VALUES ('drills', $1, 'active', 1, clock_timestamp(), clock_timestamp() + interval '1 day') RETURNING job_id)
       INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by) SELECT job_id, 1, 'x', $2, clock_timestamp(), 'sample' FROM made`,
      [name, JSON.stringify(definition)],
    );
  }
}
