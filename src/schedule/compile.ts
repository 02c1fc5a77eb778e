/** From what a job file says about time to a schedule that answers. */
import { EscapementError } from "../base/errors.ts";
import { parseCron } from "./cron-expression.ts";
import { CronSchedule } from "./cron-schedule.ts";
import { EverySchedule, parseEvery } from "./every.ts";
import type { Schedule, ScheduleSpec } from "./schedule.ts";
import { zoneOf } from "./zone.ts";

/**
 * Compiles a schedule. Compile once and ask often: an answer costs well under a microsecond, compiling some tens.
 * @throws E_CRON_SYNTAX, E_CRON_NEVER, E_ZONE_UNKNOWN; E_BAD_DATA unless exactly one of cron and every is given
 */
export function compileSchedule(spec: ScheduleSpec): Schedule {
  const zone = zoneOf(spec.zone);
  if (spec.cron !== undefined && spec.every === undefined) {
    const { dstGap = "run-at-transition", dstOverlap = "first" } = spec;
    return new CronSchedule(parseCron(spec.cron), zone, dstGap, dstOverlap);
  }
  if (spec.every !== undefined && spec.cron === undefined) return new EverySchedule(parseEvery(spec.every));
  throw new EscapementError("E_BAD_DATA", {
    what: "a schedule has either cron or every",
    hint: "write one of the two, for example cron: 0 2 * * *",
  });
}

/** `every 5m` or a cron expression, as typed in one piece. */
export function scheduleFromText(text: string): { readonly cron: string } | { readonly every: string } {
  return /^\s*every\s/i.test(text) ? { every: text.trim() } : { cron: text };
}
