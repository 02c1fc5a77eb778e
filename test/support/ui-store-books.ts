/** The books and the running work of the sample store. */
import type { Database } from "../../src/store/database.ts";
import { testJob } from "./job.ts";

export async function addBooks(db: Database, drillIsOn: boolean): Promise<void> {
  await db.query(
    `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, job, message, cause, hint, watched, opened_at, first_at, last_at, told_at) VALUES
     ('fire-failed:settlement', 'fire-failed', 'critical', 'default/settlement', 'settlement failed: 2 shards', 'bank 7 answers 503', 'escapement rerun settlement FIRE --failed', true, clock_timestamp() - interval '34 minutes', clock_timestamp() - interval '34 minutes', clock_timestamp(), clock_timestamp() - interval '33 minutes'),
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
export async function addRunning(db: Database): Promise<void> {
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

export async function addChecklist(db: Database): Promise<void> {
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

export async function addDisks(db: Database): Promise<void> {
  await db.query(
    "INSERT INTO escapement.store_disk (host, path, total_bytes, free_bytes) VALUES ('store-01', '/var/lib/postgresql', 480000000000, 391000000000), ('store-01', '/var/lib/postgresql/wal', 120000000000, 97000000000)",
  );
}

/** Drills on the timetable are jobs that only the watchman's host runs. */
export async function addTimetable(db: Database): Promise<void> {
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
