/** What a live record store tells: a workload file, and the runs that a peak forecast stands on. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { documentsOf, loadText } from "../../src/spec/load.ts";
import { Database } from "../../src/store/database.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { digestOf, hashed, testJob } from "../support/job.ts";
import { runEscapement } from "../support/processes.ts";

let fresh: FreshDatabase;
let db: Database;
let folder: string;
const days = 40;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 1 });
  folder = await mkdtemp(join(tmpdir(), "escapement-live-"));
  await db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp() - interval '50 days', clock_timestamp())",
  );
  const daily: Partial<JobDefinition> = {
    ...hashed(4),
    schedule: { kind: "cron", cron: "0 2 * * *" },
    resources: { class: "io", peakMemoryBytes: 3 * 2 ** 30 },
  };
  await recordRuns(testJob("settle", daily), 4, "100000 + d * 1000", "0.010");
  await recordRuns(testJob("report", { schedule: { kind: "every", everyMs: 86_400_000 } }), 1, "500", "0.2");
  await applyJob(db, testJob("never-ran"), digestOf(testJob("never-ran")), {
    person: "tester",
    reason: "test",
  });
}, 60_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await db?.end();
  await fresh?.drop();
});

/** One finished run a day: each shard takes `seconds` for a thousand rows; every tenth shard needed two attempts. */
async function recordRuns(
  definition: JobDefinition,
  shards: number,
  rows: string,
  seconds: string,
): Promise<void> {
  const { jobId } = await applyJob(db, definition, digestOf(definition), {
    person: "tester",
    reason: "test",
  });
  const fires = `generate_series(1, ${days}) d, LATERAL (SELECT date_trunc('day', clock_timestamp()) - make_interval(days => d, hours => -2) AS fire, (${rows})::bigint AS rows) f,
    LATERAL (SELECT make_interval(secs => f.rows / 1000.0 * ${seconds} * (1 + (d % 3) * 0.01)) AS took) t`;
  await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, actual_start_time, actual_end_time, duration_ms)
     SELECT $1, fire, 'schedule', 'success', 1, 'd', $2, fire, fire, fire + took, extract(epoch FROM took) * 1000 FROM ${fires}`,
    [jobId, shards],
  );
  await db.query(
    `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, start_time, end_time, rows)
     SELECT $1, fire, s, 'success', 1, fire, fire + took / $2::double precision, rows / $2 FROM ${fires}, generate_series(0, $2::integer - 1) s`,
    [jobId, shards],
  );
  await db.query(
    `INSERT INTO escapement.shard_attempt (job_id, fire_time, shard_no, attempt, outcome, end_time)
     SELECT $1, fire, 0, 1, 'retry', fire FROM ${fires} WHERE d % 10 = 0`,
    [jobId],
  );
}

test("from-cluster writes a workload that the other commands read, and leaves open what records cannot tell", {
  timeout: 60_000,
}, async () => {
  const file = join(folder, "workload.yaml");
  const run = await runEscapement(["capacity", "from-cluster", "--url", fresh.url, "-o", file]);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toMatch(/never-ran: no finished run, left out/);
  const { documents, problems } = loadText(readFileSync(file, "utf8"), file);
  expect(problems).toEqual([]);
  const { spec } = documentsOf(documents, "Workload")[0]!.value;
  const [report, settle] = [...spec.jobs].sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(settle).toMatchObject({
    name: "settle",
    class: "io",
    shards: 4,
    period: 86_400_000,
    memory: { peak: 3 * 2 ** 30 },
  });
  expect(settle!.runsPerDay).toBeGreaterThan(0.95);
  expect(settle!.runsPerDay).toBeLessThan(1.05);
  // The median day has 120,500 rows at 10 ms a thousand.
  expect(settle!.rowsPerRun).toBe(120_500);
  expect(settle!.totalTime).toBeGreaterThan(1_150);
  expect(settle!.totalTime).toBeLessThan(1_260);
  expect(report).toMatchObject({ name: "report", shards: 1, rowsPerRun: 500 });
  // 8 retries for 200 shards.
  expect(spec.records.retryShare).toBeCloseTo(0.04, 4);
  expect(spec.busiest.share).toBe(1);
  expect(settle).not.toHaveProperty("networkPerShard");
  expect(settle).not.toHaveProperty("canRunAway");
  const storage = await runEscapement(["capacity", "storage", "--workload", file, "--json"]);
  expect(storage.code, storage.stderr).toBe(0);
  const topology = await runEscapement([
    "capacity",
    "topology",
    "--workload",
    file,
    "--cores",
    "16",
    "--memory",
    "64GiB",
    "--network",
    "1.25GB",
  ]);
  expect(topology.code).toBe(5);
});

test("a store without a finished run is unknown, not an empty workload", async () => {
  const empty = await freshDatabase({ migrated: true });
  try {
    const run = await runEscapement(["capacity", "from-cluster", "--url", empty.url]);
    expect(run.code).toBe(5);
    expect(run.stderr).toMatch(/no finished run in 60 days/);
  } finally {
    await empty.drop();
  }
});

test("peak reads a job's runs and its schedule from the store", { timeout: 60_000 }, async () => {
  const run = await runEscapement(["capacity", "peak", "--job", "settle", "--url", fresh.url, "--json"]);
  const answer = JSON.parse(run.stdout);
  expect(answer.periodMs).toBe(86_400_000);
  expect(answer.model.runs).toBe(days);
  expect(answer.model.durationExplained).toBeGreaterThan(0.9);
  expect(answer.forecasts.find(({ kind }: { kind: string }) => kind === "ordinary").verdict).toBe("fits");
  // Forty days hold one month end or two, and at most one quarter end: not enough to tell.
  expect(answer.verdict).toBe("unknown");
  expect(run.code).toBe(5);
});

test("a job that never ran, and one that does not exist", async () => {
  const never = await runEscapement([
    "capacity",
    "peak",
    "--job",
    "never-ran",
    "--period",
    "1h",
    "--url",
    fresh.url,
    "--json",
  ]);
  expect([never.code, JSON.parse(never.stdout).forecasts[0].reason]).toEqual([
    5,
    expect.stringMatching(/not enough data: 0 runs/),
  ]);
  const wrong = await runEscapement(["capacity", "peak", "--job", "setle", "--url", fresh.url]);
  expect(wrong.code).toBe(64);
  expect(wrong.stderr).toMatch(/did you mean settle\?/);
});

test("a histogram may come from a query; one that writes is refused", async () => {
  await db.query(
    "CREATE TABLE payment AS SELECT 's' || (n % 500) AS supplier, n FROM generate_series(1, 20000) n",
  );
  await db.query("INSERT INTO payment SELECT 'whale', n FROM generate_series(1, 8000) n");
  const ask = (sql: string) =>
    runEscapement([
      "capacity",
      "shards",
      "--total",
      "90m",
      "--target",
      "3m",
      "--nodes",
      "8",
      "--keys-query",
      sql,
      "--url",
      fresh.url,
      "--json",
    ]);
  const run = await ask("SELECT supplier, count(*) FROM payment GROUP BY supplier");
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout).chosen.skew.split).toEqual([
    expect.objectContaining({ key: "whale", parts: 9 }),
  ]);
  // Two columns of one name are two columns all the same; one column counts rows.
  const twins = await ask(
    "SELECT n AS n, CASE n WHEN 1 THEN 8000 ELSE 1 END AS n FROM generate_series(1, 20000) n;",
  );
  expect(JSON.parse(twins.stdout).chosen.skew.split).toEqual([
    expect.objectContaining({ key: "1", parts: 9 }),
  ]);
  const alone = await ask("SELECT supplier FROM payment");
  expect(JSON.parse(alone.stdout).chosen.skew.split).toEqual([
    expect.objectContaining({ key: "whale", parts: 9 }),
  ]);
  const missing = await ask("SELECT supplier, NULL FROM payment");
  expect(missing.code).toBe(65);
  const writing = await ask("DELETE FROM payment RETURNING supplier");
  expect([writing.code, writing.stderr]).toEqual([64, expect.stringMatching(/--keys-query.*syntax error/)]);
  const { rows } = await db.query<{ count: number }>("SELECT count(*) FROM payment");
  expect(rows[0]!.count).toBe(28_000);
});
