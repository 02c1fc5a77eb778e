/**
 * A timetable becomes jobs of our own scheduler, so that a drill fires exactly
 * once like everything else. The job carries the texts of the drill and of the
 * timetable: what was agreed to is what runs, whatever lies on the controller.
 */
import { digest } from "../../spec/digest.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";
import {
  type DrillScheduleDefinition,
  timetableNamespace,
  timetableVariable,
} from "../../spec/drill-schedule-definition.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { type DrillSlot, drillKey, drillSlots, slotCron } from "./timetable.ts";

/** Variables by which a job carries what it was made of. */
export const drillFileVariable = "DRILL_FILE";
export { timetableVariable };

/** A drill that is later than this has missed its week: nobody looks on at night. */
const misfireThresholdMs = 10 * 60_000;
const leaseMs = 60_000;
const peakMemoryBytes = 256 * 1_048_576;

export interface TimetableJob {
  readonly slot: DrillSlot;
  readonly definition: JobDefinition;
  readonly digest: string;
}

export interface TimetableTexts {
  /** Of the timetable's file. */
  readonly timetable: string;
  /** Of the file that a drill was read from. */
  fileOf(drill: ResolvedDrill): string;
}

/**
 * @param drills by name; every drill of the timetable is there: see {@link timetableProblems}
 * @throws E_BAD_DATA when the office hours are too short
 */
export function timetableJobs(
  schedule: DrillScheduleDefinition,
  drills: ReadonlyMap<string, ResolvedDrill>,
  texts: TimetableTexts,
): TimetableJob[] {
  return drillSlots(schedule).map((slot) => {
    const { entry } = slot;
    const { program, inventory, cluster, reports, runAs } = schedule.controller;
    const definition: JobDefinition = {
      namespace: timetableNamespace,
      name: drillKey(entry).replace("/", "-"),
      description: `Drill ${drillKey(entry)} of timetable ${schedule.name}.`,
      command: [
        ...program,
        "drill",
        "run",
        entry.drill,
        ...(entry.variant === undefined ? [] : ["--variant", entry.variant]),
        ...["--yes", "--scheduled", "--inventory", inventory, "--cluster", cluster, "--out", reports],
      ],
      ...(runAs !== undefined && { runAs }),
      environment: {
        [drillFileVariable]: texts.fileOf(drills.get(entry.drill)!),
        [timetableVariable]: texts.timetable,
      },
      schedule: { kind: "cron", cron: slotCron(slot) },
      timeZone: schedule.timeZone,
      dstGap: "run-at-transition",
      dstOverlap: "first",
      misfire: { policy: "skip", thresholdMs: misfireThresholdMs },
      blocking: { policy: "forbid" },
      catchUp: { maxFires: 0, keep: "newest" },
      // Once: a drill that failed is looked at by a person, not repeated.
      retry: { maxAttempts: 1, delaysMs: [60_000] },
      leaseMs,
      timeoutMs: schedule.timeoutMs,
      shards: { by: "none" },
      resources: { class: "control", peakMemoryBytes },
      effects: [],
      onStoreLoss: "kill",
    };
    return { slot, definition, digest: digest(definition) };
  });
}

/** What is wrong between a timetable and the drills there are, one sentence each. */
export function timetableProblems(
  schedule: DrillScheduleDefinition,
  drills: ReadonlyMap<string, ResolvedDrill>,
): string[] {
  const seen = new Set<string>();
  return schedule.drills.flatMap((entry, i) => {
    const at = `spec.drills[${i}]`;
    const key = drillKey(entry);
    const found = drills.get(entry.drill)?.definition;
    const problems: string[] = [];
    if (seen.has(key)) problems.push(`${at} lists ${key} twice`);
    seen.add(key);
    if (!found)
      problems.push(
        `${at}.drill: there is no drill ${entry.drill}; there are ${[...drills.keys()].join(", ")}`,
      );
    else {
      if (found.class !== entry.class)
        problems.push(`${at}.class is ${entry.class}, and drill ${entry.drill} stands for ${found.class}`);
      if (entry.variant !== undefined && !found.variants.some(({ name }) => name === entry.variant))
        problems.push(
          `${at}.variant: ${entry.drill} has no variant ${entry.variant}; it has ${found.variants.map(({ name }) => name).join(", ")}`,
        );
      if (found.blastRadius.recordStore)
        problems.push(`${at}: ${entry.drill} may break the record store; such a drill is run by a person`);
    }
    return problems;
  });
}
