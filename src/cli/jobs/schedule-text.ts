/** A schedule in a few characters, for tables. */
import { formatDuration } from "../../base/duration.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";

/** `0 2 * * *`, `every 5m` or `by hand`. */
export function scheduleText({ schedule }: Pick<JobDefinition, "schedule">): string {
  switch (schedule.kind) {
    case "cron":
      return schedule.cron;
    case "every":
      return `every ${formatDuration(schedule.everyMs)}`;
    case "manual":
      return "by hand";
  }
}
