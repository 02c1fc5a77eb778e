/** Lets the evaluator of schedules judge what a job file says about time. */
import { isEscapementError } from "../../base/errors.ts";
import { compileSchedule } from "../../schedule/compile.ts";
import type { ValidateSchedule } from "../../spec/definitions.ts";

export const validateSchedule: ValidateSchedule = ({ schedule, timeZone, dstGap, dstOverlap }) => {
  if (schedule.kind === "manual") return null;
  try {
    compileSchedule({
      ...(schedule.kind === "cron" ? { cron: schedule.cron } : { every: schedule.everyMs }),
      zone: timeZone,
      ...(dstGap && { dstGap }),
      ...(dstOverlap && { dstOverlap }),
    });
    return null;
  } catch (error) {
    if (!isEscapementError(error)) throw error;
    return error.message;
  }
};
