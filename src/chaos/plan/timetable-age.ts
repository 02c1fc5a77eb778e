/** When the passes of a timetable grow too old for the checklist, because the calendar leaves drills out. Pure. */
import { type DrillClass, mandatoryDrillClasses, type ResolvedDrill } from "../../spec/drill-definition.ts";
import type { DrillScheduleDefinition } from "../../spec/drill-schedule-definition.ts";
import { comingDrills } from "./timetable-next.ts";

/** So long a pass counts for items 11 and 12 of the checklist, which has the figure in src/checklist/context.ts. */
export const passCountsMs = 8 * 86_400_000;

const weekMs = 7 * 86_400_000;
/** How far ahead it is told: a quarter. */
const weeksAhead = 13;
/** A time that begins by then may end later. */
const weeksAfter = 13;

/** A time in which no pass of a class can be fresh, if every drill passes when it runs. */
export interface AgedClass {
  readonly class: DrillClass;
  readonly from: Date;
  /** The next drill of the class; null: none within the quarter after. */
  readonly to: Date | null;
}

/** Of the classes that the checklist asks for and the timetable has, in order of time. */
export function agedClasses(
  schedule: DrillScheduleDefinition,
  drills: ReadonlyMap<string, ResolvedDrill>,
  now: Date,
): AgedClass[] {
  // What ran within the last week is still fresh at first, and may not stay so.
  const first = now.getTime() - passCountsMs;
  const until = now.getTime() + weeksAhead * weekMs;
  // Each slot fires once a week, whether its window is open or not.
  const weeks = Math.ceil((until - first) / weekMs) + weeksAfter;
  const fires = comingDrills(schedule, drills, new Date(first), weeks * schedule.drills.length);
  const aged = mandatoryDrillClasses
    .filter((name) => schedule.drills.some((one) => one.class === name))
    .flatMap((name): AgedClass[] => {
      const runs = fires
        .filter((one) => one.class === name && one.skipped === null)
        .map(({ at }) => at.getTime());
      // Before the first one nothing is fresh, whatever happened until now.
      const starts = [first, ...runs];
      return starts.flatMap((start, i): AgedClass[] => {
        const [from, next] = [start + passCountsMs, runs[i]];
        if (from > until || (next !== undefined && next <= from)) return [];
        return [{ class: name, from: new Date(from), to: next === undefined ? null : new Date(next) }];
      });
    });
  return aged.sort((a, b) => a.from.getTime() - b.from.getTime());
}
