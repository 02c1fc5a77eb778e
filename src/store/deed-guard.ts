/** What every deed on an execution begins with: the job's row lock, the limits of time, and what is there already. */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import { periodKey } from "../spec/period.ts";
import type { Queryable } from "./database.ts";
import type { ExecutionStatus } from "./execution.ts";
import { type JobRow, jobLabel } from "./job.ts";

/** Takes the job's row lock; a deleted job is refused. @throws E_REFUSED */
export async function lockForDeed(tx: Queryable, job: JobRow): Promise<{ now: Date; lowWater: Date }> {
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
export function refuseOutside(job: JobRow, fireTime: Date, now: Date, lowWater: Date): void {
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

/** What the records say of an execution before a deed. */
export interface Before {
  readonly status: ExecutionStatus;
  readonly runNo: number;
  readonly opened: boolean;
}

/** Null when there is no row; a plan that was taken back is none. */
export async function statusOf(tx: Queryable, jobId: number, fireTime: Date): Promise<Before | null> {
  const { rows } = await tx.query<Before>(
    `SELECT status, run_no AS "runNo", opened_at IS NOT NULL AS opened
     FROM escapement.execution WHERE job_id = $1 AND fire_time = $2 AND revoked_at IS NULL`,
    [jobId, fireTime],
  );
  return rows[0] ?? null;
}

/**
 * Takes the business period for an execution: the asked one, or the one its fire time falls into.
 * @returns null for a job without a period. @throws E_REFUSED when the period already has an execution
 */
export async function claimPeriod(
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
  if (asked !== undefined && !isPeriod(asked, period.unit)) {
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

/** A month or day that exists. */
function isPeriod(text: string, unit: "month" | "day"): boolean {
  const day = unit === "month" ? `${text}-01` : text;
  const date = new Date(`${day}T00:00:00Z`);
  return (
    /^[1-9]\d{3}-\d{2}-\d{2}$/.test(day) &&
    !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(day)
  );
}
