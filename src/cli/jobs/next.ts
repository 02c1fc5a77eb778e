/** `escapement jobs next`: the coming fires of one job, by its own schedule. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { countOption, instantOption } from "../parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson, table } from "../terminal.ts";

export function buildNext(): Command {
  const command = defineCommand("next", "show the coming fires of one job", {
    examples: ["escapement jobs next settlement --count 5 --cluster cluster.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .argument("<job>", "name, or namespace/name")
    .option("--count <n>", "how many", countOption(1, 10_000), 5)
    .option("--from <instant>", "from here instead of the database's time", instantOption)
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (name: string, options: StoreOptions & { count: number; from?: Date; json?: boolean }) => {
      const { jobLabel, requireJob } = await import("../../store/job.ts");
      const { readStoreTime } = await import("../../store/store-time.ts");
      const { jobSchedule } = await import("../../schedule/job-schedule.ts");
      const { periodKey } = await import("../../spec/period.ts");
      await withStore(options, async (db) => {
        const job = await requireJob(db, name);
        const { period, timeZone } = job.definition;
        const schedule = jobSchedule(job.definition);
        const fires: { fireTime: Date; period: string | null }[] = [];
        let at = (options.from ?? (await readStoreTime(db))).getTime();
        while (schedule && fires.length < options.count) {
          const next = schedule.next(at);
          if (next === null) break;
          at = next;
          const fireTime = new Date(next);
          fires.push({ fireTime, period: period ? periodKey(period, timeZone, fireTime) : null });
        }
        if (options.json) return printJson({ job: jobLabel(job), state: job.state, timeZone, fires });
        if (job.state !== "active") print(`${jobLabel(job)} is ${job.state}: these would be its fires`);
        if (!schedule) return print(`${jobLabel(job)} has no schedule: people run it`);
        const local = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
        const rows = fires.map((fire) => [
          formatInstant(fire.fireTime),
          local.format(fire.fireTime),
          fire.period ?? "-",
        ]);
        print(table(["fire time (UTC)", timeZone, "period"], rows));
      });
    },
  );
}
