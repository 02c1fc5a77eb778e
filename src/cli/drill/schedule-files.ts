/** A timetable with the drills it names, and the jobs that they come to. */
import { readFile } from "node:fs/promises";
import { EscapementError, messageOf } from "../../base/errors.ts";
import type { TimetableJob } from "../../chaos/plan/timetable-jobs.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";
import { type DrillScheduleDefinition, timetableNamespace } from "../../spec/drill-schedule-definition.ts";
import type { Problem } from "../../spec/problem.ts";
import type { Queryable } from "../../store/database.ts";
import type { JobChange } from "../jobs/changes.ts";
import { failOnProblems } from "../problems.ts";
import { type DrillFileOptions, readDrills } from "./drill-files.ts";

export interface Timetable {
  readonly file: string;
  readonly schedule: DrillScheduleDefinition;
  readonly drills: ReadonlyMap<string, ResolvedDrill>;
}

/** @throws E_SPEC_INVALID after telling every problem on standard error */
export async function requireTimetable(file: string, options: DrillFileOptions): Promise<Timetable> {
  const { loadDrillSchedule } = await import("../../spec/resolve-drill-schedule.ts");
  const { timetableProblems } = await import("../../chaos/plan/timetable-jobs.ts");
  const { schedule, problems } = await loadDrillSchedule(file);
  failOnProblems(problems);
  if (!schedule) throw new EscapementError("E_BUG", { what: `no timetable and no problem in ${file}` });
  const drills = await readDrills(options);
  const wrong = timetableProblems(schedule, drills).map(
    (message): Problem => ({ file, line: 0, column: 0, path: "", message }),
  );
  failOnProblems(wrong);
  return { file, schedule, drills };
}

/** @throws E_BAD_DATA when the office hours are too short */
export async function jobsOfTimetable({ file, schedule, drills }: Timetable): Promise<TimetableJob[]> {
  const { timetableJobs } = await import("../../chaos/plan/timetable-jobs.ts");
  const names = new Set(schedule.drills.map(({ drill }) => drill));
  const files = new Set([...names].map((name) => drills.get(name)!.file));
  const texts = new Map(
    await Promise.all([file, ...files].map(async (one) => [one, await read(one)] as const)),
  );
  return timetableJobs(schedule, drills, {
    timetable: texts.get(file)!,
    fileOf: (drill) => texts.get(drill.file)!,
  });
}

/** As `jobs plan` sees them; jobs of drills that the timetable no longer has are deleted. */
export async function timetableChanges(
  db: Queryable,
  timetable: Timetable,
  jobs: readonly TimetableJob[],
): Promise<JobChange[]> {
  const { jobChanges } = await import("../jobs/changes.ts");
  const { jobLabel, listJobs } = await import("../../store/job.ts");
  const at = { file: timetable.file, line: 0, column: 0 };
  const wanted = jobs.map(({ definition, digest }) => ({ ...at, definition, digest }));
  const changes = await jobChanges(db, wanted, { prune: false });
  const names = new Set(wanted.map(({ definition }) => definition.name));
  for (const job of await listJobs(db))
    if (job.namespace === timetableNamespace && !names.has(job.name))
      changes.push({ job: jobLabel(job), action: "delete", fields: [], existing: job });
  return changes;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}
