/** The compiled schedule of a job definition, kept, since compiling a zone takes milliseconds. */
import type { JobDefinition } from "../spec/job-definition.ts";
import { compileSchedule } from "./compile.ts";
import type { Schedule } from "./schedule.ts";

type Scheduled = Pick<JobDefinition, "schedule" | "timeZone" | "dstGap" | "dstOverlap">;

const compiled = new Map<string, Schedule>();
/** Enough for a large cluster; the map is emptied when it is full, not grown without end. */
const maxCompiled = 20_000;

/** The schedule a job fires by, or null for one that only people run. @throws E_CRON_SYNTAX, E_CRON_NEVER, E_ZONE_UNKNOWN */
export function jobSchedule(job: Scheduled): Schedule | null {
  const { schedule, timeZone, dstGap, dstOverlap } = job;
  if (schedule.kind === "manual") return null;
  const when = schedule.kind === "cron" ? schedule.cron : schedule.everyMs;
  const key = [when, timeZone, dstGap, dstOverlap].join("\n");
  let found = compiled.get(key);
  if (!found) {
    found = compileSchedule({
      ...(schedule.kind === "cron" ? { cron: schedule.cron } : { every: schedule.everyMs }),
      zone: timeZone,
      ...(dstGap ? { dstGap } : {}),
      ...(dstOverlap ? { dstOverlap } : {}),
    });
    if (compiled.size >= maxCompiled) compiled.clear();
    compiled.set(key, found);
  }
  return found;
}
