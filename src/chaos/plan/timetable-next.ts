/** The coming fires of a timetable, and which of them will find the window closed. Pure. */
import { compileSchedule } from "../../schedule/compile.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";
import type { DrillScheduleDefinition } from "../../spec/drill-schedule-definition.ts";
import { drillKey, drillSlots, slotCron } from "./timetable.ts";
import { closedBecause } from "./timetable-window.ts";

export interface ComingDrill {
  readonly at: Date;
  readonly drill: string;
  readonly class: string;
  /** Why it will not run; null when it will. */
  readonly skipped: string | null;
}

/** @param count of all drills together, in order of time */
export function comingDrills(
  schedule: DrillScheduleDefinition,
  drills: ReadonlyMap<string, ResolvedDrill>,
  after: Date,
  count: number,
): ComingDrill[] {
  const coming = drillSlots(schedule).flatMap((slot) => {
    const times = compileSchedule({ cron: slotCron(slot), zone: schedule.timeZone });
    const found: ComingDrill[] = [];
    let at = times.next(after.getTime());
    while (at !== null && found.length < count) {
      const away = drills.get(slot.entry.drill)?.definition.blastRadius.awayFromPeakMs;
      found.push({
        at: new Date(at),
        drill: drillKey(slot.entry),
        class: slot.entry.class,
        skipped: closedBecause(schedule, new Date(at), away),
      });
      at = times.next(at);
    }
    return found;
  });
  return coming.sort((a, b) => a.at.getTime() - b.at.getTime()).slice(0, count);
}
