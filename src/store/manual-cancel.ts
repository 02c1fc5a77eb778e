/** Cancelling an execution that has not ended. */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import type { Database } from "./database.ts";
import { lockForDeed, statusOf } from "./deed-guard.ts";
import { endedStatuses } from "./execution.ts";
import { type JobRow, jobLabel } from "./job.ts";
import { type Deed, recordOperation } from "./operation.ts";
import { endUnopened } from "./unopened.ts";

/** Cancels an execution that has not ended. What runs is killed by its executor. Returns how many shards still run. */
export async function cancelExecution(
  db: Database,
  job: JobRow,
  fireTime: Date,
  deed: Deed,
): Promise<number> {
  return db.transaction(async (tx) => {
    await lockForDeed(tx, job);
    const before = await statusOf(tx, job.jobId, fireTime);
    if (!before)
      throw new EscapementError("E_EXECUTION_UNKNOWN", {
        job: jobLabel(job),
        fireTime: formatInstant(fireTime),
      });
    if (endedStatuses.includes(before.status)) {
      throw ended(before.status);
    }
    const reason = `cancelled by ${deed.person}: ${deed.reason}`;
    const { rows } = await tx.query<{ running: number | null }>(
      "SELECT escapement.cancel($1, $2, $3) AS running",
      [job.jobId, fireTime, reason],
    );
    const running = rows[0]?.running ?? null;
    if (running === null) await endUnopened(tx, job.jobId, fireTime, "cancelled", reason);
    // It may have ended by itself between the look and the deed.
    const after = await statusOf(tx, job.jobId, fireTime);
    if (after && after.status !== "cancelled" && endedStatuses.includes(after.status))
      throw ended(after.status);
    await recordOperation(tx, { ...deed, action: "cancel", jobId: job.jobId, fireTime, before });
    return running ?? 0;
  });
}

function ended(status: string): EscapementError {
  return new EscapementError("E_REFUSED", {
    what: `that execution has ended (${status})`,
    hint: "there is nothing to cancel",
  });
}
