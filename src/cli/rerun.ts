/** `escapement rerun`: runs what did not succeed again. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { countOption, instantOption } from "./parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

interface RerunOptions extends StoreOptions, DeedOptions {
  readonly failed?: boolean;
  readonly shard?: number;
  readonly wait?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("rerun", "run an ended execution again, without what succeeded", {
    examples: [
      "escapement rerun settlement 2026-07-01T02:00:00Z --failed --reason 'disk was full'",
      "escapement rerun settlement 2026-07-01T02:00:00Z --shard 7 --reason 'one bad supplier'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unavailable],
    notes: "A missed or blocked execution can be run this way, too. Success is never run again.",
  })
    .argument("<job>", "name, or namespace/name")
    .argument("<fire-time>", "the execution's fire time", instantOption)
    .option("--failed", "only shards that failed (default: all that did not succeed)")
    .option("--shard <number>", "only this shard", countOption(-1))
    .option("--wait", "wait for the end; exit 1 unless it is a success")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (name: string, fireTime: Date, options: RerunOptions) => {
      const { requireJob } = await import("../store/job.ts");
      const { rerun } = await import("../store/manual-rerun.ts");
      await withStore(options, async (db) => {
        const job = await requireJob(db, name);
        const choice = {
          ...(options.failed ? { failed: true } : {}),
          ...(options.shard === undefined ? {} : { shard: options.shard }),
        };
        const result = await rerun(db, job, fireTime, choice, deedOf(options));
        const ended = options.wait
          ? await (await import("./wait-for-end.ts")).waitForEnd(db, job, fireTime)
          : null;
        if (options.json) printJson({ job: name, fireTime, ...result, status: ended?.status ?? "planned" });
        else
          print(
            `${name} at ${formatInstant(fireTime)}, run ${result.runNo}: ${result.shards} shard(s), ${ended?.status ?? "planned"}`,
          );
        if (ended && ended.status !== "success") process.exitCode = ExitCode.failed;
      });
    },
  );
}
