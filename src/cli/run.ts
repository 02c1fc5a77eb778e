/** `escapement run`: runs a job by hand. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { instantOption } from "./parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

interface RunOptions extends StoreOptions, DeedOptions {
  readonly fireTime?: Date;
  readonly period?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("run", "run a job now, by hand", {
    examples: [
      "escapement run settlement --cluster cluster.yaml --reason 'asked for by finance'",
      "escapement run bonus --period 2026-07 --reason 'July was paused' --wait",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unavailable],
    notes:
      "A fire time or a period that already has an execution is refused. The blocking policy of the job applies.",
  })
    .argument("<job>", "name, or namespace/name")
    .option("--fire-time <instant>", "a past fire time instead of now", instantOption)
    .option(
      "--period <key>",
      "the business period to run for, where the job declares one (2026-07 or 2026-07-31)",
    )
    .option("--wait", "wait for the end; exit 1 unless it is a success")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (name: string, options: RunOptions) => {
    const { requireJob } = await import("../store/job.ts");
    const { runManually } = await import("../store/manual-run.ts");
    await withStore(options, async (db) => {
      const job = await requireJob(db, name);
      const started = await runManually(db, job, {
        ...deedOf(options),
        ...(options.fireTime ? { fireTime: options.fireTime } : {}),
        ...(options.period === undefined ? {} : { period: options.period }),
      });
      const ended = options.wait
        ? await (await import("./wait-for-end.ts")).waitForEnd(db, job, started.fireTime)
        : null;
      if (options.json)
        printJson({
          job: name,
          fireTime: started.fireTime,
          period: started.periodKey,
          status: ended?.status ?? "planned",
        });
      else {
        print(
          `${name} at ${formatInstant(started.fireTime)}${started.periodKey ? ` for ${started.periodKey}` : ""}: ${ended?.status ?? "planned"}`,
        );
        if (ended?.reason) print(`  ${ended.reason}`);
      }
      if (ended && ended.status !== "success") process.exitCode = ExitCode.failed;
    });
  });
}
