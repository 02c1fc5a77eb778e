/**
 * How long the checklist takes: --jobs job files (500), applied, each with --days
 * days (400) of daily and, one in ten, hourly executions of four shards. Runs the
 * program itself --runs times (3), and prints each run and its slowest items.
 * There are no hosts: they are asked side by side, and one that is away costs 12 s.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { ChecklistReport } from "../src/checklist/report-schema.ts";
import { startPostgres } from "../src/lab/postgres.ts";
import { digest } from "../src/spec/digest.ts";
import { loadFiles } from "../src/spec/load.ts";
import { resolveJobs } from "../src/spec/resolve.ts";
import { Database } from "../src/store/database.ts";
import { applyJob } from "../src/store/job-change.ts";
import { migrate } from "../src/store/migrate.ts";
import { ensurePartitions } from "../src/store/planning.ts";

const args = process.argv.slice(2);
const number = (flag: string, fallback: number) => {
  const at = args.indexOf(flag);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const jobs = number("--jobs", 500);
const days = number("--days", 400);
const runs = number("--runs", 3);

const folder = mkdtempSync(join(tmpdir(), "bench-checklist-"));
const server = await startPostgres({ settings: { shared_buffers: "256MB", max_wal_size: "4GB" } });
const db = new Database(server.url, { maxConnections: 2, queryTimeoutMs: 600_000 });
try {
  writeFileSync(join(folder, "jobs.yaml"), Array.from({ length: jobs }, (_, i) => jobFile(i)).join("---\n"));
  await migrate(db);
  const executions = await fill();
  console.log(`${jobs} jobs, ${executions} executions in ${days} days`);
  for (let n = 1; n <= runs; n++) {
    const startMs = performance.now();
    const report = await run();
    const slowest = [...report.items].sort((a, b) => b.durationMs - a.durationMs).slice(0, 4);
    const words = slowest.map(({ number: item, id, durationMs }) => `${item} ${id} ${durationMs} ms`);
    const wholeMs = Math.round(performance.now() - startMs);
    console.log(
      `run ${n}: ${wholeMs} ms, of it asking ${report.durationMs} ms; slowest: ${words.join(", ")}`,
    );
    const late = report.items.filter(({ results }) =>
      results.some(({ message }) => message.includes("gave no answer")),
    );
    for (const { number: item } of late) console.log(`  item ${item} gave no answer in time`);
  }
} finally {
  await db.end();
  await server.stop();
  rmSync(folder, { recursive: true });
}

function jobFile(i: number): string {
  const cron = i % 10 === 0 ? `${i % 60} * * * *` : `${i % 60} ${i % 24} * * *`;
  return `apiVersion: escapement/v1
kind: Job
metadata: { name: job-${i}, namespace: site }
spec:
  command: ["true"]
  schedule: { cron: "${cron}" }
  timeZone: Europe/Berlin
  dstGap: run-at-transition
  dstOverlap: first
  misfire: { policy: run-now, threshold: 1m }
  blocking: { policy: queue, maxQueued: 5 }
  catchUp: { maxFires: 3, keep: oldest }
  retry: { maxAttempts: 4, delays: [1m, 5m, 30m] }
  lease: 30s
  timeout: 20m
  shards: { by: hash, count: 4, key: id }
  resources: { class: io, peakMemory: 128MiB }
  effects: []
`;
}

/** The files as they are, and a history in which every fire succeeded. Returns the number of executions. */
async function fill(): Promise<number> {
  const { documents } = await loadFiles([join(folder, "jobs.yaml")]);
  const resolved = resolveJobs(documents, { validateSchedule: () => null });
  if (resolved.problems.length > 0) throw new Error(JSON.stringify(resolved.problems[0]));
  const deed = { person: "bench", reason: "bench" };
  for (const { definition } of resolved.jobs) await applyJob(db, definition, digest(definition), deed);
  const dayMs = 86_400_000;
  await ensurePartitions(db, new Date(Date.now() - (days + 1) * dayMs), new Date(Date.now() + 62 * dayMs));
  const { rowCount } = await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time,
       opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds)
     SELECT j.job_id, f, 'schedule', 'success', 1, 'd', 4, f, f, f, f + interval '5 s', 5000 + (j.job_id % 7) * 1000, 0
     FROM escapement.job j
     CROSS JOIN LATERAL generate_series(date_trunc('hour', now()) - make_interval(days => $1), now() - interval '1 hour',
       CASE WHEN j.job_id % 10 = 0 THEN interval '1 hour' ELSE interval '1 day' END) f`,
    [days],
  );
  await db.query(
    `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, rows)
     SELECT job_id, fire_time, n, 'success', 1, 1000 FROM escapement.execution, generate_series(0, 3) n`,
  );
  await db.query("VACUUM ANALYZE");
  return rowCount ?? 0;
}

function run(): Promise<ChecklistReport> {
  return new Promise((resolve, reject) => {
    const command = ["bin/escapement.mjs", "checklist", folder, "--url", server.url, "--json", "--quiet"];
    execFile(process.execPath, command, { maxBuffer: 256 * 1024 * 1024 }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout) as ChecklistReport),
    );
  });
}
