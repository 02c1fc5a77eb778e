/** What a record store has seen, summed up job by job. */
import type { JobDefinition, ResourceClass } from "../../spec/job-definition.ts";
import { shardCount } from "../../spec/shard-count.ts";
import type { Queryable } from "../../store/database.ts";
import { jobLabel, listJobs } from "../../store/job.ts";
import { shortestGap } from "./recorded-runs.ts";

export interface ObservedJob {
  readonly name: string;
  readonly class: ResourceClass;
  readonly runsPerDay: number;
  readonly shards: number;
  readonly totalTimeMs: number;
  readonly periodMs: number | undefined;
  readonly rowsPerRun: number | undefined;
  readonly peakMemoryBytes: number;
  /** Finished runs the figures come from. */
  readonly runs: number;
}

export interface ObservedWorkload {
  readonly observedAt: Date;
  readonly days: number;
  readonly executorNodes: number;
  readonly retentionMonths: number;
  readonly retryShare: number;
  readonly bytesPerShard: number;
  readonly busiestShare: number;
  readonly busiestMs: number;
  readonly jobs: readonly ObservedJob[];
  /** Jobs without a finished run. */
  readonly leftOut: readonly string[];
}

interface RunRow {
  readonly jobId: number;
  readonly runs: number;
  readonly totalMs: number | null;
  readonly rows: number | null;
}

const window = 600_000;

export async function observeWorkload(db: Queryable, lookBackDays: number): Promise<ObservedWorkload> {
  const { rows: spans } = await db.query<{
    now: Date;
    days: number | null;
    retention: number;
    nodes: number;
  }>(
    `SELECT clock_timestamp() AS now, (SELECT retention_months FROM escapement.cluster) AS retention,
       greatest(1, extract(epoch FROM clock_timestamp() - min(e.fire_time)) / 86400.0) AS days,
       (SELECT count(DISTINCT host)::integer FROM escapement.executor WHERE state IN ('active', 'draining')) AS nodes
     FROM escapement.execution e WHERE e.status = 'success' AND e.fire_time > clock_timestamp() - make_interval(days => $1)`,
    [lookBackDays],
  );
  const span = spans[0]!;
  const days = Math.min(lookBackDays, Number(span.days ?? 1));
  const { rows } = await db.query<RunRow>(
    `SELECT x."jobId", count(*)::integer AS runs, percentile_cont(0.5) WITHIN GROUP (ORDER BY x.ms) AS "totalMs",
       percentile_cont(0.5) WITHIN GROUP (ORDER BY x.rows) AS rows
     FROM (SELECT e.job_id AS "jobId", e.fire_time, sum(extract(epoch FROM s.end_time - s.start_time) * 1000)::double precision AS ms,
             sum(s.rows)::double precision AS rows
           FROM escapement.execution e JOIN escapement.shard s ON s.job_id = e.job_id AND s.fire_time = e.fire_time
           WHERE e.status = 'success' AND s.status = 'success' AND e.fire_time > clock_timestamp() - make_interval(days => $1)
           GROUP BY e.job_id, e.fire_time) x GROUP BY x."jobId"`,
    [lookBackDays],
  );
  const seen = new Map(rows.map((row) => [row.jobId, row]));
  const known = await listJobs(db);
  const jobs: ObservedJob[] = [];
  for (const job of known) {
    const row = seen.get(job.jobId);
    if (row) jobs.push(await observedJob(jobLabel(job), job.definition, row, days));
  }
  return {
    observedAt: span.now,
    days,
    executorNodes: Math.max(1, span.nodes),
    retentionMonths: span.retention,
    jobs,
    leftOut: known.filter(({ jobId }) => !seen.has(jobId)).map(jobLabel),
    ...(await recordFigures(db, lookBackDays)),
  };
}

async function observedJob(
  name: string,
  definition: JobDefinition,
  row: RunRow,
  days: number,
): Promise<ObservedJob> {
  return {
    name,
    class: definition.resources.class,
    runsPerDay: row.runs / days,
    shards: shardCount(definition),
    totalTimeMs: Math.max(1, Math.round(row.totalMs ?? 1)),
    periodMs: await shortestGap(definition),
    rowsPerRun: row.rows === null ? undefined : Math.round(row.rows),
    peakMemoryBytes: definition.resources.peakMemoryBytes,
    runs: row.runs,
  };
}

async function recordFigures(
  db: Queryable,
  lookBackDays: number,
): Promise<Pick<ObservedWorkload, "retryShare" | "bytesPerShard" | "busiestShare" | "busiestMs">> {
  const { rows } = await db.query<{
    shards: number;
    bytes: number | null;
    attempts: number;
    busiest: number | null;
  }>(
    `WITH since AS (SELECT clock_timestamp() - make_interval(days => $1) AS at)
     SELECT (SELECT count(*) FROM escapement.shard s, since WHERE s.fire_time > since.at AND s.status = 'success') AS shards,
       (SELECT avg(pg_column_size(s.*) - 32)::double precision FROM escapement.shard s, since
        WHERE s.fire_time > since.at AND s.status = 'success') AS bytes,
       (SELECT count(*) FROM escapement.shard_attempt a, since WHERE a.fire_time > since.at) AS attempts,
       (SELECT max(n) / sum(n) FROM (
          SELECT count(*)::double precision AS n FROM escapement.execution e, since
          WHERE e.fire_time > since.at AND e.status = 'success'
          GROUP BY floor(extract(epoch FROM e.fire_time AT TIME ZONE 'UTC')::bigint % 86400 / $2)) b) AS busiest`,
    [lookBackDays, window / 1_000],
  );
  const { shards, bytes, attempts, busiest } = rows[0]!;
  return {
    retryShare: shards === 0 ? 0 : attempts / shards,
    bytesPerShard: Math.max(1, Math.round(bytes ?? 150)),
    busiestShare: busiest ?? 1,
    busiestMs: window,
  };
}
