/** A store that looks like the middle of a working day: for frames, pictures and measurements of the screens. */
import { randomUUID } from "node:crypto";
import { digest } from "../../src/spec/digest.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { Database } from "../../src/store/database.ts";
import { testJob } from "./job.ts";
import { addBooks, addChecklist, addDisks, addRunning, addTimetable } from "./ui-store-books.ts";

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
       VALUES ($1, $2, $3, 'b', $4, 's', '0.1.0', 'active', 15000, clock_timestamp() + interval '1 hour', 16, 4, 8, $5, clock_timestamp() - interval '3 days', '{"isSynchronized":true}')`,
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
       VALUES ($1, $2, $3, $4, '0.1.0', '2026a', $5, clock_timestamp() - interval '3 days', clock_timestamp() + interval '1 hour', $6, $7, '{"isSynchronized":true}')`,
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
    "INSERT INTO escapement.watchman VALUES ('watch-1', 'watch-01', 900, '0.1.0', clock_timestamp() - interval '3 days', clock_timestamp() - interval '8 seconds', clock_timestamp() - interval '3 days')",
  );
}
