/** What a run of the timetable brings with it, and whether it may begin now. */
import { EscapementError } from "../../base/errors.ts";
import type { DrillVariant, ResolvedDrill } from "../../spec/drill-definition.ts";
import type { DrillScheduleDefinition } from "../../spec/drill-schedule-definition.ts";
import type { Database } from "../../store/database.ts";
import { failOnProblems } from "../problems.ts";
import { chooseDrill } from "./drill-files.ts";

export interface ScheduledRun {
  readonly drill: ResolvedDrill;
  readonly schedule: DrillScheduleDefinition;
}

/** Read from the job's own variables, so that what was applied is what runs. @throws E_USAGE outside of such a job */
export async function scheduledRun(name: string): Promise<ScheduledRun> {
  const { drillFileVariable, timetableVariable } = await import("../../chaos/plan/timetable-jobs.ts");
  const { parseDrills } = await import("../../spec/resolve-drill.ts");
  const { parseDrillSchedule } = await import("../../spec/resolve-drill-schedule.ts");
  const { findingClasses } = await import("../../chaos/checkers/finding.ts");
  const [drillText, timetableText] = [process.env[drillFileVariable], process.env[timetableVariable]];
  if (drillText === undefined || timetableText === undefined)
    throw new EscapementError("E_USAGE", {
      what: "--scheduled is for the jobs of escapement drill schedule, which bring drill and timetable with them",
    });
  const found = parseDrills(drillText, drillFileVariable, Object.keys(findingClasses));
  const { schedule, problems } = parseDrillSchedule(timetableText, timetableVariable);
  failOnProblems([...found.problems, ...problems]);
  const drill = chooseDrill(new Map(found.drills.map((one) => [one.definition.name, one])), name);
  return { drill, schedule: schedule! };
}

export interface WindowQuestion extends ScheduledRun {
  readonly variants: readonly DrillVariant[];
  readonly person: string;
  readonly version: string;
  readonly controller: string;
}

/**
 * Asks once more, by the database's time: the timetable was drawn long ago, and a run may be late.
 * What is left out is a run in the records, too, so that nobody wonders, and no failure of its job: nothing
 * is wrong, and nobody is to be woken.
 * @returns why it is left out; null when it may begin
 */
export async function leftOutBecause(db: Database, question: WindowQuestion): Promise<string | null> {
  const { readStoreTime } = await import("../../store/store-time.ts");
  const { activeDrillHalt } = await import("../../store/drill/drill-halt.ts");
  const { closedBecause } = await import("../../chaos/plan/timetable-window.ts");
  const { drill, schedule } = question;
  const halt = await activeDrillHalt(db);
  const now = await readStoreTime(db);
  const closed = closedBecause(schedule, now, drill.definition.blastRadius.awayFromPeakMs);
  const reason = halt ? `drills are halted by ${halt.person}: ${halt.reason}` : closed;
  if (reason !== null) await recordLeftOut(db, question, reason);
  return reason;
}

async function recordLeftOut(db: Database, question: WindowQuestion, reason: string): Promise<void> {
  const { randomUUID } = await import("node:crypto");
  const { beginDrillRun, endDrillRun } = await import("../../store/drill/drill-run.ts");
  const { drill, variants, person, version, controller } = question;
  const { name, class: stands } = drill.definition;
  const runId = randomUUID();
  const run = {
    runId,
    drill: variants.length === 1 ? `${name}/${variants[0]!.name}` : name,
    class: stands,
    digest: drill.digest,
    trigger: "schedule" as const,
    ...{ person, version, controller, targets: [] },
  };
  await beginDrillRun(db, run, 10_000);
  await endDrillRun(db, runId, controller, {
    verdict: "unknown",
    reason: `left out: ${reason}`,
    summary: { leftOut: true },
  });
}
