/** Running a job by hand. One transaction under the job's row lock; the same unique rows as the scheduler's. */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import type { Database } from "./database.ts";
import { claimPeriod, lockForDeed, refuseOutside, statusOf } from "./deed-guard.ts";
import { type JobRow, jobLabel } from "./job.ts";
import { insertManual } from "./manual-plan.ts";
import { type Deed, recordOperation } from "./operation.ts";

/** Runs a job now, or for a past fire time that has no execution. */
export async function runManually(
  db: Database,
  job: JobRow,
  options: Deed & { fireTime?: Date; period?: string },
): Promise<{ fireTime: Date; periodKey: string | null }> {
  return db.transaction(async (tx) => {
    const { now, lowWater } = await lockForDeed(tx, job);
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
