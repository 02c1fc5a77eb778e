/** A timetable document becomes a definition: minutes of the day, instants as text. */
import type { DrillScheduleDefinition, PeakDay, Weekday } from "./drill-schedule-definition.ts";
import { type DrillScheduleDocument, weekdayNames } from "./drill-schedule-schema.ts";
import { documentsOf, loadFiles, loadText } from "./load.ts";
import type { Problem } from "./problem.ts";

export interface LoadedDrillSchedule {
  readonly schedule: DrillScheduleDefinition | undefined;
  readonly problems: readonly Problem[];
}

/** Reads the one timetable of a file. Never throws for what is in it. */
export async function loadDrillSchedule(file: string): Promise<LoadedDrillSchedule> {
  return only(await loadFiles([file]), file);
}

/** Reads a timetable that a job carries. @param source the name that problems carry */
export function parseDrillSchedule(text: string, source: string): LoadedDrillSchedule {
  return only(loadText(text, source), source);
}

function only(loaded: ReturnType<typeof loadText>, file: string): LoadedDrillSchedule {
  if (loaded.problems.length > 0) return { schedule: undefined, problems: loaded.problems };
  const [first, second] = documentsOf(loaded.documents, "DrillSchedule");
  if (first && !second) return { schedule: define(first.value), problems: [] };
  const { line, column } = second ?? { line: 0, column: 0 };
  const message = second
    ? "is a second kind: DrillSchedule; name a file with one"
    : "has no document of kind: DrillSchedule";
  return { schedule: undefined, problems: [{ file, line, column, path: "", message }] };
}

function define({ metadata, spec }: DrillScheduleDocument): DrillScheduleDefinition {
  const { officeHours, controller } = spec;
  const weekdays = officeHours.weekdays.map((day) => weekdayNames.indexOf(day) as Weekday);
  return {
    name: metadata.name,
    ...(spec.description !== undefined && { description: spec.description }),
    timeZone: spec.timeZone,
    officeHours: {
      weekdays: [...new Set(weekdays)].sort((a, b) => a - b),
      fromMinute: minuteOf(officeHours.from),
      toMinute: minuteOf(officeHours.to),
    },
    seed: spec.seed,
    peakDays: spec.peakDays.map(
      ({ date, dayOfMonth, reason }): PeakDay =>
        date !== undefined
          ? { kind: "date", date, reason }
          : { kind: "day-of-month", day: dayOfMonth!, reason },
    ),
    awayFromPeakMs: spec.awayFromPeak,
    freezes: spec.freezes.map(({ from, to, reason }) => ({
      from: from.toISOString(),
      to: to.toISOString(),
      reason,
    })),
    drills: spec.drills.map((one) => ({
      drill: one.drill,
      class: one.class,
      ...(one.variant !== undefined && { variant: one.variant }),
    })),
    controller: {
      program: controller.program,
      inventory: controller.inventory,
      cluster: controller.cluster,
      reports: controller.reports,
      ...(controller.runAs !== undefined && { runAs: controller.runAs }),
    },
    timeoutMs: spec.timeout,
  };
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return hours! * 60 + minutes!;
}
