/** `escapement cancel`: stops an execution that has not ended. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { instantOption } from "./parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

export function build(): Command {
  const command = defineCommand("cancel", "cancel an execution that has not ended", {
    examples: ["escapement cancel report 2026-07-01T02:00:00Z --reason 'wrong input file'"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes:
      "What waits ends at once; what runs is killed by its executor, at the latest with that executor's lease.",
  })
    .argument("<job>", "name, or namespace/name")
    .argument("<fire-time>", "the execution's fire time", instantOption)
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (name: string, fireTime: Date, options: StoreOptions & DeedOptions & { json?: boolean }) => {
      const { requireJob } = await import("../store/job.ts");
      const { cancelExecution } = await import("../store/manual-cancel.ts");
      await withStore(options, async (db) => {
        const running = await cancelExecution(db, await requireJob(db, name), fireTime, deedOf(options));
        if (options.json) printJson({ job: name, fireTime, stillRunning: running });
        else
          print(
            `${name} at ${formatInstant(fireTime)}: cancelled${running > 0 ? `, ${running} shard(s) are being killed` : ""}`,
          );
      });
    },
  );
}
