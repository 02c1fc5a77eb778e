/** Running an ended execution again, without what succeeded. */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import type { JobDefinition } from "../spec/job-definition.ts";
import type { Database, Queryable } from "./database.ts";
import { lockForDeed, refuseOutside, statusOf } from "./deed-guard.ts";
import { endedStatuses } from "./execution.ts";
import { type JobRow, jobLabel } from "./job.ts";
import { insertLive, reviveUnopened } from "./manual-plan.ts";
import { type Deed, recordOperation } from "./operation.ts";

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
    const { now, lowWater } = await lockForDeed(tx, job);
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
