/**
 * What people do to executions by hand: run, rerun, backfill, cancel. Each is
 * one transaction under the job's row lock, leaves an `operation` row, and meets
 * the same unique rows as the scheduler: nothing can be done twice by mistake.
 */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import { jobSchedule } from "../schedule/job-schedule.ts";
import type { JobDefinition } from "../spec/job-definition.ts";
import { periodKey } from "../spec/period.ts";
import type { Database, Queryable } from "./database.ts";
import { type ExecutionStatus, endedStatuses } from "./execution.ts";
import { type JobRow, jobLabel } from "./job.ts";
import { endUnopened } from "./opening.ts";
import { type Deed, recordOperation } from "./operation.ts";
import { definitionsSince, policyColumns } from "./planning.ts";

/** A backfill longer than this is refused: it would run for weeks, one after the other. */
export const maxBackfill = 5_000;

/** Runs a job now, or for a past fire time that has no execution. */
export async function runManually(
  db: Database,
  job: JobRow,
  options: Deed & { fireTime?: Date; period?: string },
): Promise<{ fireTime: Date; periodKey: string | null }> {
  return db.transaction(async (tx) => {
    const { now, lowWater } = await lock(tx, job);
    const fireTime = options.fireTime ?? now;
    refuseOutside(job, fireTime, now, lowWater);
    const existing = await statusOf(tx, job.jobId, fireTime);
    if (existing) {
      throw new EscapementError("E_REFUSED", {
        what: `${jobLabel(job)} already has an execution at ${formatInstant(fireTime)} (${existing.status})`,
        hint:
          existing.status === "success"
            ? "success is never run again"
            : `escapement rerun ${jobLabel(job)} ${formatInstant(fireTime)}`,
      });
    }
    const period = await claimPeriod(tx, job, fireTime, options.period);
    await tx.query("SELECT escapement.ensure_partitions($1, $1)", [fireTime]);
    await insertManual(tx, job, fireTime, period, null, false);
    await recordOperation(tx, { ...options, action: "run", jobId: job.jobId, fireTime, after: { period } });
    return { fireTime, periodKey: period };
  });
}

export interface RerunChoice {
  /** Only shards that failed; otherwise all that did not succeed. */
  readonly failed?: boolean;
  /** Only this shard. */
  readonly shard?: number;
}

/** Runs an ended execution again, without what succeeded. It keeps its id; run_no goes up by one. */
export async function rerun(
  db: Database,
  job: JobRow,
  fireTime: Date,
  choice: RerunChoice,
  deed: Deed,
): Promise<{ runNo: number; shards: number }> {
  return db.transaction(async (tx) => {
    const { now, lowWater } = await lock(tx, job);
    refuseOutside(job, fireTime, now, lowWater);
    const before = await statusOf(tx, job.jobId, fireTime);
    if (!before)
      throw new EscapementError("E_EXECUTION_UNKNOWN", {
        job: jobLabel(job),
        fireTime: formatInstant(fireTime),
      });
    if (!endedStatuses.includes(before.status)) {
      throw new EscapementError("E_REFUSED", {
        what: `the execution of ${jobLabel(job)} at ${formatInstant(fireTime)} is ${before.status}`,
        hint: "wait until it has ended, or cancel it first",
      });
    }
    if (before.status === "success") {
      throw new EscapementError("E_REFUSED", {
        what: `every shard of ${jobLabel(job)} at ${formatInstant(fireTime)} succeeded`,
        hint: "success is never run again",
      });
    }
    const shards = before.opened
      ? await reviveShards(tx, job.jobId, fireTime, choice)
      : await reviveUnopened(tx, job, fireTime);
    if (shards === 0) {
      throw new EscapementError("E_REFUSED", {
        what: "no shard of that execution matches",
        hint: "escapement shards lists them",
      });
    }
    await recordOperation(tx, {
      ...deed,
      action: "rerun",
      jobId: job.jobId,
      fireTime,
      before,
      after: { ...choice, shards },
    });
    return { runNo: before.runNo + 1, shards };
  });
}

export interface BackfillItem {
  readonly fireTime: Date;
  /** `run`: will run; otherwise the status it has, which is left alone. */
  readonly action: "run" | ExecutionStatus;
}

/**
 * Runs the fires of an interval that never ran, one after the other, oldest
 * first, each waiting for the success of the one before. With `dryRun` it only lists them.
 */
export async function backfill(
  db: Database,
  job: JobRow,
  interval: { from: Date; to: Date },
  deed: Deed & { dryRun?: boolean },
): Promise<BackfillItem[]> {
  return db.transaction(async (tx) => {
    const { now, lowWater } = await lock(tx, job);
    refuseOutside(job, interval.from, now, lowWater);
    refuseOutside(job, interval.to, now, lowWater);
    const fires = await firesInForce(tx, job, interval.from, interval.to);
    if (fires.length > maxBackfill) {
      throw new EscapementError("E_REFUSED", {
        what: `${fires.length} fires lie in that interval, more than ${maxBackfill}`,
        hint: "backfill a shorter interval first",
      });
    }
    const items: BackfillItem[] = [];
    let chainAfter: Date | null = null;
    if (!deed.dryRun)
      await tx.query("SELECT escapement.ensure_partitions($1, $2)", [interval.from, interval.to]);
    for (const fireTime of fires) {
      const before = await statusOf(tx, job.jobId, fireTime);
      if (before && (before.opened || !["missed", "blocked", "cancelled"].includes(before.status))) {
        items.push({ fireTime, action: before.status });
        continue;
      }
      items.push({ fireTime, action: "run" });
      if (deed.dryRun) continue;
      if (before) await reviveUnopened(tx, job, fireTime, chainAfter);
      else {
        const period = await claimPeriod(tx, job, fireTime, undefined);
        await insertManual(tx, job, fireTime, period, chainAfter, true);
      }
      chainAfter = fireTime;
    }
    if (!deed.dryRun) {
      await recordOperation(tx, {
        ...deed,
        action: "backfill",
        jobId: job.jobId,
        after: { ...interval, fires: fires.length },
      });
    }
    return items;
  });
}

/** Cancels an execution that has not ended. What runs is killed by its executor. Returns how many shards still run. */
export async function cancelExecution(
  db: Database,
  job: JobRow,
  fireTime: Date,
  deed: Deed,
): Promise<number> {
  return db.transaction(async (tx) => {
    await lock(tx, job);
    const before = await statusOf(tx, job.jobId, fireTime);
    if (!before)
      throw new EscapementError("E_EXECUTION_UNKNOWN", {
        job: jobLabel(job),
        fireTime: formatInstant(fireTime),
      });
    if (endedStatuses.includes(before.status)) {
      throw new EscapementError("E_REFUSED", {
        what: `that execution has ended (${before.status})`,
        hint: "there is nothing to cancel",
      });
    }
    const reason = `cancelled by ${deed.person}: ${deed.reason}`;
    const { rows } = await tx.query<{ running: number | null }>(
      "SELECT escapement.cancel($1, $2, $3) AS running",
      [job.jobId, fireTime, reason],
    );
    const running = rows[0]?.running ?? null;
    if (running === null) await endUnopened(tx, job.jobId, fireTime, "cancelled", reason);
    await recordOperation(tx, { ...deed, action: "cancel", jobId: job.jobId, fireTime, before });
    return running ?? 0;
  });
}

// ---------------------------------------------------------------------------

async function lock(tx: Queryable, job: JobRow): Promise<{ now: Date; lowWater: Date }> {
  const { rows } = await tx.query<{ now: Date; lowWater: Date; state: string }>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now, c.low_water AS "lowWater", j.state
     FROM escapement.job j, escapement.cluster c WHERE j.job_id = $1 FOR NO KEY UPDATE OF j`,
    [job.jobId],
  );
  const row = rows[0];
  if (!row || row.state === "deleted") {
    throw new EscapementError("E_REFUSED", {
      what: `${jobLabel(job)} is deleted`,
      hint: "apply its file again to bring it back",
    });
  }
  return row;
}

/** What the records no longer know may have run already; and the future belongs to the scheduler. */
function refuseOutside(job: JobRow, fireTime: Date, now: Date, lowWater: Date): void {
  if (fireTime < lowWater) {
    throw new EscapementError("E_REFUSED", {
      what: `the fire of ${jobLabel(job)} at ${formatInstant(fireTime)} is older than the oldest retained record (${formatInstant(lowWater)})`,
      hint: "nobody can tell any more whether it ran; it is never run again",
    });
  }
  if (fireTime > now) {
    throw new EscapementError("E_REFUSED", {
      what: `${formatInstant(fireTime)} is in the future`,
      hint: "by hand a job runs now or for a past time; the schedule fires the rest",
    });
  }
}

interface Before {
  readonly status: ExecutionStatus;
  readonly runNo: number;
  readonly opened: boolean;
}

async function statusOf(tx: Queryable, jobId: number, fireTime: Date): Promise<Before | null> {
  const { rows } = await tx.query<Before & { revoked: boolean }>(
    `SELECT status, run_no AS "runNo", opened_at IS NOT NULL AS opened, revoked_at IS NOT NULL AS revoked
     FROM escapement.execution WHERE job_id = $1 AND fire_time = $2`,
    [jobId, fireTime],
  );
  return rows[0] ? { status: rows[0].status, runNo: rows[0].runNo, opened: rows[0].opened } : null;
}

async function claimPeriod(
  tx: Queryable,
  job: JobRow,
  fireTime: Date,
  asked: string | undefined,
): Promise<string | null> {
  const { period, timeZone } = job.definition;
  if (!period) {
    if (asked !== undefined) {
      throw new EscapementError("E_REFUSED", {
        what: `${jobLabel(job)} declares no period`,
        hint: "run it without --period",
      });
    }
    return null;
  }
  const form = period.unit === "month" ? /^\d{4}-\d{2}$/ : /^\d{4}-\d{2}-\d{2}$/;
  if (asked !== undefined && !form.test(asked)) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--period",
      value: asked,
      expected: `a ${period.unit} of this job`,
      hint: `write it as ${period.unit === "month" ? "2026-07" : "2026-07-31"}`,
    });
  }
  const key = asked ?? periodKey(period, timeZone, fireTime);
  const inserted = await tx.query(
    "INSERT INTO escapement.job_period (job_id, period_key, fire_time) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    [job.jobId, key, fireTime],
  );
  if (inserted.rowCount === 0) {
    const { rows } = await tx.query<{ fireTime: Date }>(
      `SELECT fire_time AS "fireTime" FROM escapement.job_period WHERE job_id = $1 AND period_key = $2`,
      [job.jobId, key],
    );
    throw new EscapementError("E_REFUSED", {
      what: `period ${key} of ${jobLabel(job)} already has an execution, at ${rows[0] ? formatInstant(rows[0].fireTime) : "an earlier time"}`,
      hint: "if it failed, rerun that execution; a period is done once, whatever fires it",
    });
  }
  return key;
}

async function insertManual(
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

async function insertLive(
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

/** Sets the chosen shards of an execution that has run back to pending. Returns how many. */
async function reviveShards(
  tx: Queryable,
  jobId: number,
  fireTime: Date,
  choice: RerunChoice,
): Promise<number> {
  const { rows } = await tx.query<{ shardNo: number; status: string }>(
    `SELECT shard_no AS "shardNo", status FROM escapement.shard WHERE job_id = $1 AND fire_time = $2 AND status <> 'success' ORDER BY shard_no`,
    [jobId, fireTime],
  );
  // Without its frozen input no shard can run, so an unfinished freezing step always comes along.
  const freezing = rows.some((row) => row.shardNo === -1);
  const chosen = rows.filter(
    (row) =>
      freezing ||
      (choice.shard === undefined ? !choice.failed || row.status === "failed" : row.shardNo === choice.shard),
  );
  if (chosen.length === 0) return 0;
  const left = rows.filter((row) => !chosen.includes(row));
  const { rows: definitions } = await tx.query<{ definition: JobDefinition }>(
    `UPDATE escapement.execution e SET status = 'planned', run_no = run_no + 1, reason = NULL, actual_start_time = NULL,
       actual_end_time = NULL, duration_ms = NULL, missed_seconds = NULL
     FROM escapement.job_version v
     WHERE e.job_id = $1 AND e.fire_time = $2 AND v.job_id = e.job_id AND v.version = e.job_version RETURNING v.definition`,
    [jobId, fireTime],
  );
  await tx.query(
    `UPDATE escapement.shard SET status = 'pending', owner = NULL, start_time = NULL, end_time = NULL, error = NULL
     WHERE job_id = $1 AND fire_time = $2 AND shard_no = ANY ($3::integer[])`,
    [jobId, fireTime, chosen.map((row) => row.shardNo)],
  );
  // What stays behind unsuccessful still counts when this run ends.
  await tx.query(
    "UPDATE escapement.shard SET status = 'cancelled' WHERE job_id = $1 AND fire_time = $2 AND status = 'pending' AND NOT shard_no = ANY ($3::integer[])",
    [jobId, fireTime, chosen.map((row) => row.shardNo)],
  );
  const failedLeft = left.filter((row) => row.status === "failed").length;
  await insertLive(tx, jobId, fireTime, definitions[0]!.definition, chosen.length, {
    failed: failedLeft,
    cancelled: left.length - failedLeft,
    freezes: freezing,
  });
  return chosen.length;
}

/** Plans anew what was never opened (missed, blocked, cancelled), by the definition in force now. */
async function reviveUnopened(
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

/** The fires of an interval, each by the definition that was in force at its time. */
async function firesInForce(tx: Queryable, job: JobRow, from: Date, to: Date): Promise<Date[]> {
  const versions = await definitionsSince(tx, job.jobId, from);
  const fires: Date[] = [];
  for (const [index, version] of versions.entries()) {
    const start = index === 0 ? from.getTime() - 1 : version.effectiveFrom.getTime();
    const end = Math.min(to.getTime(), versions[index + 1]?.effectiveFrom.getTime() ?? to.getTime());
    if (end <= start) continue;
    for (const ms of jobSchedule(version.definition)?.between(start, end, maxBackfill + 1) ?? [])
      fires.push(new Date(ms));
  }
  return fires;
}
