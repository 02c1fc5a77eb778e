/**
 * How long one pass of the watchman takes: everything read in one snapshot, all
 * rules judged, on --jobs jobs (5,000) with --days days of history. A quarter of
 * the jobs fires every ten minutes, the rest hourly and daily; one in a hundred
 * is in trouble. The first pass has nothing in memory; the others are what it
 * takes twice a minute. Prints medians and the worst of --passes passes.
 */
import { performance } from "node:perf_hooks";
import { startPostgres } from "../src/lab/postgres.ts";
import { Database } from "../src/store/database.ts";
import { migrate } from "../src/store/migrate.ts";
import { ensurePartitions } from "../src/store/planning.ts";
import { DigestBook } from "../src/watchman/digest-book.ts";
import { judge } from "../src/watchman/judge.ts";
import { PictureReader } from "../src/watchman/picture-reader.ts";
import { defaultWatchSettings } from "../src/watchman/settings.ts";
import { benchJob } from "./bench-job.ts";

const args = process.argv.slice(2);
const number = (flag: string, fallback: number) => {
  const at = args.indexOf(flag);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const jobs = number("--jobs", 5_000);
const days = number("--days", 7);
const passes = number("--passes", 20);

const server = await startPostgres({ settings: { shared_buffers: "256MB", max_wal_size: "4GB" } });
const db = new Database(server.url, { maxConnections: 2, queryTimeoutMs: 600_000 });
try {
  await migrate(db);
  const rows = await fill();
  console.log(`${jobs} jobs, ${rows} executions in ${days} days`);
  const clock = { readings: () => [], source: () => null };
  const reader = new PictureReader(db, defaultWatchSettings, new DigestBook(null), clock);
  const times: { read: number; judge: number }[] = [];
  let found = 0;
  for (let pass = 0; pass <= passes; pass += 1) {
    const startMs = performance.now();
    const picture = await reader.read();
    const readMs = performance.now();
    found = judge(picture, defaultWatchSettings).length;
    times.push({ read: readMs - startMs, judge: performance.now() - readMs });
  }
  const [first, ...rest] = times as [{ read: number; judge: number }, ...{ read: number; judge: number }[]];
  print("first pass", [first]);
  print("later passes", rest);
  console.log(`${found} findings`);
} finally {
  await db.end();
  await server.stop();
}

function print(what: string, passed: readonly { read: number; judge: number }[]): void {
  const sorted = (pick: (one: { read: number; judge: number }) => number) =>
    passed.map(pick).sort((a, b) => a - b);
  const totals = sorted(({ read, judge }) => read + judge);
  const middle = (values: readonly number[]) => Math.round(values[values.length >> 1]!);
  console.log(
    `${what}: median ${middle(totals)} ms (read ${middle(sorted((one) => one.read))}, judge ${middle(sorted((one) => one.judge))}), worst ${Math.round(totals.at(-1)!)} ms`,
  );
}

/** Jobs, their history, and a cluster that is alive. Returns the number of executions. */
async function fill(): Promise<number> {
  const definition = { ...benchJob("x", 1), schedule: { kind: "every", everyMs: 600_000 } };
  await db.query(
    `WITH j AS (
       INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
       SELECT 'default', 'job-' || n, 'active', 1, now() - make_interval(days => $2), now() + interval '2 minutes' FROM generate_series(1, $1) n
       RETURNING job_id)
     INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
     SELECT job_id, 1, 'd', jsonb_set($3::jsonb, '{schedule,everyMs}', to_jsonb(CASE job_id % 4 WHEN 0 THEN 600000 WHEN 1 THEN 86400000 ELSE 3600000 END)),
       now() - make_interval(days => $2), 'bench' FROM j`,
    [jobs, days, JSON.stringify(definition)],
  );
  await ensurePartitions(
    db,
    new Date(Date.now() - (days + 1) * 86_400_000),
    new Date(Date.now() + 62 * 86_400_000),
  );
  // Every hundredth job has run nothing for the last three hours.
  const { rowCount } = await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time,
       opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds)
     SELECT j.job_id, f, 'schedule', 'success', 1, 'd', 1, f, f, f, f + interval '5 s', 5000, 0
     FROM escapement.job j
     CROSS JOIN LATERAL (SELECT CASE j.job_id % 4 WHEN 0 THEN 600 WHEN 1 THEN 86400 ELSE 3600 END AS step) s
     CROSS JOIN LATERAL generate_series(to_timestamp(ceil(extract(epoch FROM j.known_since) / s.step) * s.step),
       CASE WHEN j.job_id % 100 = 0 THEN now() - interval '3 hours' ELSE now() END, s.step * interval '1 second') f
     WHERE f > j.known_since`,
  );
  await db.query(
    `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, rows)
     SELECT job_id, fire_time, 0, 'success', 1, 1000 FROM escapement.execution`,
  );
  await db.query(
    "UPDATE escapement.leader SET expires_at = now() + interval '1 hour', epoch = 1, node = 'bench'",
  );
  await db.query(
    `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until, cpu_slots, memory_slots, io_slots)
     SELECT gen_random_uuid(), 'e' || n, 'h' || n, 'b', 1, '1', '0', 'active', 15000, now() + interval '1 hour', 8, 8, 8 FROM generate_series(1, 20) n`,
  );
  await db.query("VACUUM ANALYZE");
  return rowCount ?? 0;
}
