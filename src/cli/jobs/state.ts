/** `escapement jobs pause|resume|delete`: changes of a job's state, by hand and on record. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

type StateOptions = StoreOptions & DeedOptions & { json?: boolean };

export function buildPause(): Command {
  return stateCommand(
    "pause",
    "stop planning a job; what runs goes on",
    "escapement jobs pause settlement --reason 'ledger migration'",
  );
}

export function buildResume(): Command {
  return stateCommand(
    "resume",
    "go on planning a paused job, from now; its fires meanwhile are entered as cancelled",
    "escapement jobs resume settlement --reason 'ledger migrated'",
  );
}

export function buildDelete(): Command {
  return stateCommand(
    "delete",
    "stop a job for good; its records stay",
    "escapement jobs delete old-report --reason 'replaced by new-report'",
  );
}

function stateCommand(verb: "pause" | "resume" | "delete", summary: string, example: string): Command {
  const command = defineCommand(verb, summary, {
    examples: [example],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
  })
    .argument("<job>", "name, or namespace/name")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (name: string, options: StateOptions) => {
    const { jobLabel, requireJob } = await import("../../store/job.ts");
    const { deleteJob, pauseJob, resumeJob } = await import("../../store/job-change.ts");
    await withStore(options, async (db) => {
      const job = await requireJob(db, name);
      const deed = deedOf(options);
      const label = jobLabel(job);
      const state = { pause: "paused", resume: "active", delete: "deleted" }[verb];
      if (verb === "resume") {
        const { changed, skipped } = await resumeJob(db, job, deed);
        if (options.json) return printJson({ job: label, state, changed, cancelledFires: skipped });
        return print(
          changed
            ? `${label} is active; ${skipped} fire(s) of the pause are entered as cancelled`
            : `${label} is active already`,
        );
      }
      const { changed, revoked } = await (verb === "pause" ? pauseJob : deleteJob)(db, job, deed);
      if (options.json) return printJson({ job: label, state, changed, revoked });
      print(
        changed
          ? `${label} is ${state}; ${revoked} planned execution(s) taken back`
          : `${label} is ${state} already`,
      );
    });
  });
}
