/** `escapement jobs list`: the jobs of the store, with their next fire. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson, table } from "../terminal.ts";

export function buildList(): Command {
  const command = defineCommand("list", "list the jobs of the store", {
    examples: ["escapement jobs list --cluster cluster.yaml", "escapement jobs list --all --json"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .option("--all", "deleted ones, too")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (options: StoreOptions & { all?: boolean; json?: boolean }) => {
      const { jobLabel, listJobs } = await import("../../store/job.ts");
      const { readStoreTime } = await import("../../store/store-time.ts");
      const { jobSchedule } = await import("../../schedule/job-schedule.ts");
      const { scheduleText } = await import("./schedule-text.ts");
      await withStore(options, async (db) => {
        const now = (await readStoreTime(db)).getTime();
        const jobs = (await listJobs(db, { deleted: options.all ?? false })).map((job) => {
          const next = job.state === "active" ? (jobSchedule(job.definition)?.next(now) ?? null) : null;
          return { ...job, nextFireTime: next === null ? null : new Date(next) };
        });
        if (options.json) return printJson({ jobs });
        if (jobs.length === 0) return print("no jobs; add some with: escapement jobs apply PATH --reason …");
        const rows = jobs.map((job) => [
          jobLabel(job),
          job.state,
          scheduleText(job.definition),
          job.definition.timeZone,
          job.nextFireTime ? formatInstant(job.nextFireTime) : "-",
          `v${job.version}`,
        ]);
        print(table(["job", "state", "schedule", "zone", "next fire (UTC)", "version"], rows));
      });
    },
  );
}
