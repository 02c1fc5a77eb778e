/** Running the fires of a past interval that never ran. */
import { EscapementError } from "../base/errors.ts";
import { jobSchedule } from "../schedule/job-schedule.ts";
import type { Database, Queryable } from "./database.ts";
import { claimPeriod, lockForDeed, refuseOutside, statusOf } from "./deed-guard.ts";
import type { ExecutionStatus } from "./execution.ts";
import type { JobRow } from "./job.ts";
import { insertManual, reviveUnopened } from "./manual-plan.ts";
import { type Deed, recordOperation } from "./operation.ts";
import { definitionsSince } from "./planning.ts";

/** A backfill longer than this is refused: it would run for weeks, one after the other. */
export const maxBackfill = 5_000;
const longestIntervalMs = 10 * 365 * 86_400_000;

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
    const { now, lowWater } = await lockForDeed(tx, job);
    refuseOutside(job, interval.from, now, lowWater);
    refuseOutside(job, interval.to, now, lowWater);
    if (interval.to < interval.from) {
      throw new EscapementError("E_USAGE", { what: "the interval ends before it begins" });
    }
    if (interval.to.getTime() - interval.from.getTime() > longestIntervalMs) {
      throw new EscapementError("E_REFUSED", {
        what: "that is more than ten years",
        hint: "backfill a shorter interval first",
      });
    }
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
