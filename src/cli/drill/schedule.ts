/** `escapement drill schedule`: drills on a timetable, fired by our own scheduler. */
import type { Command } from "commander";
import { formatDuration } from "../../base/duration.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import type { AgedClass } from "../../chaos/plan/timetable-age.ts";
import { mandatoryDrillClasses } from "../../spec/drill-definition.ts";
import { defineCommand } from "../command.ts";
import { countOption, instantOption } from "../parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";
import { type DrillFileOptions, withDrillsOption } from "./drill-files.ts";
import { requireTimetable, type Timetable } from "./schedule-files.ts";

const fileArgument = ["<file>", "a file with one kind: DrillSchedule"] as const;

type ScheduleOptions = DrillFileOptions & StoreOptions & { readonly json?: boolean };

export function buildSchedule(): Command {
  const command = defineCommand("schedule", "run drills on a timetable", {
    examples: ["escapement drill schedule next chaos/weekly.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const build of [buildPlan, buildApply, buildNext]) command.addCommand(build());
  return command;
}

function buildPlan(): Command {
  const command = defineCommand("plan", "which jobs the timetable comes to, and what apply would change", {
    examples: [
      "escapement drill schedule plan chaos/weekly.yaml --cluster cluster.yaml",
      "escapement drill schedule plan chaos/weekly.yaml --cluster cluster.yaml --exit-code",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.changesPending,
      ExitCode.refused,
      ExitCode.badData,
      ExitCode.unavailable,
    ],
    notes: "Day and minute of each drill are drawn from the seed of the file: they change only with it.",
  })
    .argument(...fileArgument)
    .option("--exit-code", "exit 2 when there is something to change")
    .option("--json", "print one JSON document");
  return withStoreOptions(withDrillsOption(command)).action(
    async (file: string, options: ScheduleOptions & { exitCode?: boolean }) => {
      const { jobsOfTimetable, timetableChanges } = await import("./schedule-files.ts");
      const { slotCron } = await import("../../chaos/plan/timetable.ts");
      const { changesAsJson, printChanges } = await import("../jobs/print-changes.ts");
      const timetable = await requireTimetable(file, options);
      const jobs = await jobsOfTimetable(timetable);
      await sayGaps(timetable, new Date());
      await withStore(options, async (db) => {
        const changes = await timetableChanges(db, timetable, jobs);
        const shown = jobs.map(({ slot, definition }) => ({
          job: `${definition.namespace}/${definition.name}`,
          class: slot.entry.class,
          cron: slotCron(slot),
          timeZone: definition.timeZone,
          command: definition.command,
        }));
        if (options.json) printJson({ jobs: shown, changes: changesAsJson(changes) });
        else {
          const rows = shown.map((one) => [one.job, one.class, one.cron, one.timeZone]);
          print(table(["job", "class", "fires", "zone"], rows));
          printChanges(changes);
        }
        if (changes.some(({ action }) => action === "refuse")) process.exitCode = ExitCode.refused;
        else if (options.exitCode && changes.some(({ action }) => action !== "none"))
          process.exitCode = ExitCode.changesPending;
      });
    },
  );
}

function buildApply(): Command {
  const command = defineCommand("apply", "make the jobs of the timetable be what the file says", {
    examples: [
      "escapement drill schedule apply chaos/weekly.yaml --reason 'weekly drills' --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "The jobs carry the text of the timetable and of their drill: after a change of either, apply again. They run\nonly on an executor with control slots, which the profile watchman gives its host.",
  })
    .argument(...fileArgument)
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(withDrillsOption(command))).action(
    async (file: string, options: ScheduleOptions & DeedOptions) => {
      const { jobsOfTimetable, timetableChanges } = await import("./schedule-files.ts");
      const { applyOne, printApplied } = await import("../jobs/apply.ts");
      const timetable = await requireTimetable(file, options);
      const jobs = await jobsOfTimetable(timetable);
      await sayGaps(timetable, new Date());
      await withStore(options, async (db) => {
        const applied = [];
        for (const change of await timetableChanges(db, timetable, jobs))
          applied.push(await applyOne(db, change, deedOf(options)));
        if (options.json) printJson({ applied });
        else printApplied(applied);
        const refused = applied.filter(({ outcome }) => outcome === "refused").length;
        if (refused > 0) process.exitCode = refused === applied.length ? ExitCode.refused : ExitCode.partial;
      });
    },
  );
}

function buildNext(): Command {
  const command = defineCommand("next", "the coming drills, and which of them will be left out", {
    examples: [
      "escapement drill schedule next chaos/weekly.yaml",
      "escapement drill schedule next chaos/weekly.yaml --count 20 --from 2026-12-14T00:00:00Z --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes:
      "Reads the file only. When a drill fires it asks again, by the time of the record store, and then also\nwhether drills are halted.",
  })
    .argument(...fileArgument)
    .option("--count <n>", "how many", countOption(1, 1_000), 10)
    .option("--from <instant>", "from here instead of now", instantOption)
    .option("--json", "print one JSON document");
  return withDrillsOption(command).action(
    async (file: string, options: DrillFileOptions & { count: number; from?: Date; json?: boolean }) => {
      const { comingDrills } = await import("../../chaos/plan/timetable-next.ts");
      const timetable = await requireTimetable(file, options);
      const { schedule, drills } = timetable;
      const from = options.from ?? new Date();
      const aged = await sayGaps(timetable, from);
      const fires = comingDrills(schedule, drills, from, options.count);
      if (options.json) return printJson({ timeZone: schedule.timeZone, fires, aged });
      const local = new Intl.DateTimeFormat("en-GB", {
        timeZone: schedule.timeZone,
        weekday: "short",
        hour: "2-digit",
        minute: "2-digit",
      });
      const rows = fires.map(({ at, drill, class: stands, skipped }) => [
        formatInstant(at),
        local.format(at),
        drill,
        stands,
        skipped === null ? paint.green("runs") : paint.yellow(`left out: ${skipped}`),
      ]);
      print(table(["time (UTC)", schedule.timeZone, "drill", "class", "what happens"], rows));
    },
  );
}

/** What of the checklist's drills a timetable leaves to people; they should know. @param from said of the quarter after it */
async function sayGaps({ schedule, drills }: Timetable, from: Date): Promise<readonly AgedClass[]> {
  const { agedClasses, passCountsMs } = await import("../../chaos/plan/timetable-age.ts");
  const missing = mandatoryDrillClasses.filter((name) => schedule.drills.every((one) => one.class !== name));
  if (missing.length > 0)
    say(`note: the checklist asks for ${missing.join(", ")}, which this timetable does not have`);
  const aged = agedClasses(schedule, drills, from);
  const minute = (at: Date) => `${at.toISOString().slice(0, 16)}Z`;
  for (const { class: name, from: begin, to } of aged)
    say(
      `note: ${name} will be older than ${formatDuration(passCountsMs)} from ${minute(begin)} ${to === null ? "on" : `to ${minute(to)}`}`,
    );
  if (aged.length > 0)
    say(
      "note: items 11 and 12 of the checklist fail then, as the calendar leaves drills out; a run by hand on an open day keeps them",
    );
  return aged;
}
