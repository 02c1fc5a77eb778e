/** Rows of executions that people start: the same as the planner's, due at once. */
import type { JobDefinition } from "../spec/job-definition.ts";
import type { Queryable } from "./database.ts";
import { claimPeriod } from "./deed-guard.ts";
import type { JobRow } from "./job.ts";
import { policyColumns } from "./planning.ts";

/** Plans a new manual execution, due now. */
export async function insertManual(
  tx: Queryable,
  job: JobRow,
  fireTime: Date,
  period: string | null,
  chainAfter: Date | null,
  catchUp: boolean,
): Promise<void> {
  const policy = policyColumns(job.definition);
  await tx.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, period_key, job_version, digest, shard_count, schedule_time)
     VALUES ($1, $2, 'manual', 'planned', $3, $4, $5, $6, $2)
     -- Only a revoked plan can be in the way here, and that never ran.
     ON CONFLICT (job_id, fire_time) DO UPDATE SET status = 'planned', trigger_type = 'manual', revoked_at = NULL, reason = NULL,
       period_key = excluded.period_key, job_version = excluded.job_version, digest = excluded.digest, shard_count = excluded.shard_count`,
    [job.jobId, fireTime, period, job.version, job.digest, policy.shard_count],
  );
  await insertShards(tx, job.jobId, fireTime, policy.shard_count, policy.freezes);
  await insertLive(tx, job.jobId, fireTime, job.definition, policy.shard_count + Number(policy.freezes), {
    chainAfter,
    catchUp,
  });
}

async function insertShards(
  tx: Queryable,
  jobId: number,
  fireTime: Date,
  count: number,
  freezes: boolean,
): Promise<void> {
  await tx.query(
    "INSERT INTO escapement.shard (job_id, fire_time, shard_no) SELECT $1, $2, n FROM generate_series($3::integer, $4::integer - 1) n",
    [jobId, fireTime, freezes ? -1 : 0, count],
  );
}

/** The live row of an execution that is due now. */
export async function insertLive(
  tx: Queryable,
  jobId: number,
  fireTime: Date,
  definition: JobDefinition,
  remaining: number,
  options: {
    chainAfter?: Date | null;
    catchUp?: boolean;
    failed?: number;
    cancelled?: number;
    freezes?: boolean;
  } = {},
): Promise<void> {
  const policy = policyColumns(definition);
  await tx.query(
    `INSERT INTO escapement.execution_live (job_id, fire_time, state, due_at, trigger_type, chain_after, catch_up, remaining, failed, cancelled,
       class, max_tries, misfire_threshold_ms, blocking, continue_fenced, freezes)
     VALUES ($1, $2, 'planned', clock_timestamp(), 'manual', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      jobId,
      fireTime,
      options.chainAfter ?? null,
      options.catchUp ?? false,
      remaining,
      options.failed ?? 0,
      options.cancelled ?? 0,
      policy.class,
      policy.max_tries,
      policy.misfire_threshold_ms,
      policy.blocking,
      policy.continue_fenced,
      options.freezes ?? policy.freezes,
    ],
  );
}

/** Plans anew what was never opened (missed, blocked, cancelled), by the definition in force now. */
export async function reviveUnopened(
  tx: Queryable,
  job: JobRow,
  fireTime: Date,
  chainAfter: Date | null = null,
): Promise<number> {
  const period = await claimPeriod(tx, job, fireTime, undefined);
  const policy = policyColumns(job.definition);
  await tx.query(
    `UPDATE escapement.execution SET status = 'planned', run_no = run_no + 1, trigger_type = 'manual', reason = NULL, revoked_at = NULL,
       period_key = $3, job_version = $4, digest = $5, shard_count = $6 WHERE job_id = $1 AND fire_time = $2`,
    [job.jobId, fireTime, period, job.version, job.digest, policy.shard_count],
  );
  await tx.query("DELETE FROM escapement.shard WHERE job_id = $1 AND fire_time = $2", [job.jobId, fireTime]);
  await insertShards(tx, job.jobId, fireTime, policy.shard_count, policy.freezes);
  const remaining = policy.shard_count + Number(policy.freezes);
  await insertLive(tx, job.jobId, fireTime, job.definition, remaining, { chainAfter, catchUp: true });
  return remaining;
}
