/** Planning: which jobs' cursors are due, and the one fenced statement that moves them and inserts their fires. */
import type { JobDefinition, Misfire } from "../spec/job-definition.ts";
import { shardCount } from "../spec/shard-count.ts";
import { classNumber } from "./claim.ts";
import type { Queryable } from "./database.ts";

export interface PlanningJob {
  readonly jobId: number;
  readonly version: number;
  readonly plannedUntil: Date;
  /** The current version holds from here; fires before it belong to earlier versions. */
  readonly effectiveFrom: Date;
  /** Misfired fires of this job that are unfinished. */
  readonly catchingUp: number;
  /** The latest of them: the next one is chained to it. */
  readonly lastCatchUp: Date | null;
}

export interface PlanningWork {
  readonly now: Date;
  readonly jobs: readonly PlanningJob[];
}

/**
 * Active jobs whose cursor is less than `aheadMs` ahead of the database's clock,
 * the furthest behind first.
 */
export async function planningWork(db: Queryable, aheadMs: number, limit: number): Promise<PlanningWork> {
  const { rows } = await db.query<PlanningJob & { now: Date; jobId: number | null }>(
    `SELECT clock.now, j.*
     FROM (SELECT clock_timestamp() AS now) clock
     LEFT JOIN LATERAL (
       SELECT j.job_id AS "jobId", j.version, j.planned_until AS "plannedUntil", v.effective_from AS "effectiveFrom",
         (SELECT count(*)::integer FROM escapement.execution_live l WHERE l.job_id = j.job_id AND l.trigger_type = 'misfire') AS "catchingUp",
         (SELECT max(l.fire_time) FROM escapement.execution_live l WHERE l.job_id = j.job_id AND l.trigger_type = 'misfire') AS "lastCatchUp"
       FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version
       WHERE j.state = 'active' AND j.planned_until < clock.now + make_interval(secs => $1 / 1000.0)
       ORDER BY j.planned_until LIMIT $2) j ON true`,
    [aheadMs, limit],
  );
  return { now: rows[0]!.now, jobs: rows.filter((row) => row.jobId !== null) };
}

export interface VersionedDefinition {
  readonly jobId: number;
  readonly version: number;
  readonly digest: string;
  readonly effectiveFrom: Date;
  readonly definition: JobDefinition;
}

/** The definitions of one job that were in force at `since` or later, oldest first. */
export async function definitionsSince(
  db: Queryable,
  jobId: number,
  since: Date,
): Promise<VersionedDefinition[]> {
  const { rows } = await db.query<VersionedDefinition>(
    `SELECT job_id AS "jobId", version, digest, effective_from AS "effectiveFrom", definition FROM escapement.job_version
     WHERE job_id = $1 AND version >= coalesce(
       (SELECT max(version) FROM escapement.job_version WHERE job_id = $1 AND effective_from <= $2), 1)
     ORDER BY version`,
    [jobId, since],
  );
  return rows;
}

/** The named versions' definitions, for a cache. */
export async function readDefinitions(
  db: Queryable,
  versions: readonly { jobId: number; version: number }[],
): Promise<VersionedDefinition[]> {
  const { rows } = await db.query<VersionedDefinition>(
    `SELECT v.job_id AS "jobId", v.version, v.digest, v.effective_from AS "effectiveFrom", v.definition
     FROM unnest($1::integer[], $2::integer[]) AS w(job_id, version)
     JOIN escapement.job_version v ON v.job_id = w.job_id AND v.version = w.version`,
    [versions.map((v) => v.jobId), versions.map((v) => v.version)],
  );
  return rows;
}

export interface PlannedFire {
  readonly fireTime: Date;
  readonly status: "planned" | "missed";
  readonly triggerType: "schedule" | "misfire";
  readonly reason: string | null;
  readonly periodKey: string | null;
  readonly chainAfter: Date | null;
  readonly definition: VersionedDefinition;
}

export interface PlannedJob {
  readonly jobId: number;
  readonly version: number;
  readonly from: Date;
  readonly to: Date;
  /** The first missed fire of the whole backlog that this plan is a piece of: one backlog, one alert. */
  readonly missedSince?: Date;
  readonly fires: readonly PlannedFire[];
}

/** The rows that planning one job inserts, the measure of a chunk's size. */
export function plannedRows(job: PlannedJob): number {
  let rows = 1;
  for (const fire of job.fires)
    rows += fire.status === "planned" ? 2 + shardCount(fire.definition.definition) : 1;
  return rows;
}

/**
 * Moves the cursors and inserts the fires in one statement that proves the epoch.
 * A job that was edited, paused or moved by another leader meanwhile is left as it is.
 * @returns the number of jobs that moved and of executions planned.
 * @throws SQLSTATE ES001 (see isLeadershipLost)
 */
export async function writePlan(
  db: Queryable,
  holder: string,
  epoch: number,
  jobs: readonly PlannedJob[],
): Promise<{ moved: number; planned: number }> {
  const cursors = jobs.map(({ jobId, version, from, to, missedSince }) => ({
    job_id: jobId,
    version,
    state: "active",
    from,
    to,
    missed_since: missedSince ?? null,
  }));
  const fires = jobs.flatMap((job) => job.fires.map((fire) => fireRecord(job.jobId, fire)));
  const { rows } = await db.query<{ moved: number; planned: number }>(
    `SELECT count(*)::integer AS moved, coalesce(sum(planned), 0)::integer AS planned FROM escapement.plan($1, $2, $3::jsonb, $4::jsonb)`,
    [holder, epoch, JSON.stringify(cursors), JSON.stringify(fires)],
  );
  return rows[0]!;
}

function fireRecord(jobId: number, fire: PlannedFire): Record<string, unknown> {
  const { definition } = fire.definition;
  return {
    job_id: jobId,
    fire_time: fire.fireTime,
    status: fire.status,
    reason: fire.reason,
    trigger_type: fire.triggerType,
    period_key: fire.periodKey,
    chain_after: fire.chainAfter,
    version: fire.definition.version,
    digest: fire.definition.digest,
    ...policyColumns(definition),
  };
}

/** The copies that an execution keeps of its definition, as columns of execution_live. */
export function policyColumns(definition: JobDefinition): {
  shard_count: number;
  class: number;
  max_tries: number;
  misfire_threshold_ms: number;
  start_within_ms: number | null;
  blocking: string;
  continue_fenced: boolean;
  freezes: boolean;
} {
  return {
    shard_count: shardCount(definition),
    class: classNumber[definition.resources.class],
    max_tries: definition.retry.maxAttempts,
    misfire_threshold_ms: definition.misfire.thresholdMs,
    start_within_ms: startWithinMs(definition.misfire),
    blocking: definition.blocking.policy,
    continue_fenced: definition.onStoreLoss === "continue-fenced",
    freezes: definition.shards.by === "frozen",
  };
}

/** How late a fire may still start by its misfire policy; null: however late. */
function startWithinMs(misfire: Misfire): number | null {
  switch (misfire.policy) {
    case "skip":
      return misfire.thresholdMs;
    case "within-window":
      return Math.max(misfire.thresholdMs, misfire.windowMs);
    case "run-now":
      return null;
  }
}

/** Makes the partitions that hold fires from `from` to `to`. */
export async function ensurePartitions(db: Queryable, from: Date, to: Date): Promise<number> {
  const { rows } = await db.query<{ made: number }>("SELECT escapement.ensure_partitions($1, $2) AS made", [
    from,
    to,
  ]);
  return rows[0]?.made ?? 0;
}
