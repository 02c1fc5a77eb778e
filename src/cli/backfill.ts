/** `escapement backfill`: runs the fires of a past interval that were never run. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { instantOption } from "./parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson, table } from "./terminal.ts";

interface BackfillOptions extends StoreOptions, DeedOptions {
  readonly from: Date;
  readonly to: Date;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("backfill", "run the fires of a past interval that were never run", {
    examples: [
      "escapement backfill report --from 2026-06-01T00:00:00Z --to 2026-06-08T00:00:00Z --reason 'new report' --dry-run",
      "escapement backfill report --from 2026-06-01T00:00:00Z --to 2026-06-08T00:00:00Z --reason 'new report'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes:
      "Oldest first, each waits for the success of the one before. Fires that ran, whatever came of it, are left\nalone: rerun them one by one. Fires older than the oldest retained record are refused.",
  })
    .argument("<job>", "name, or namespace/name")
    .requiredOption("--from <instant>", "first fire time", instantOption)
    .requiredOption("--to <instant>", "last fire time", instantOption)
    .option("--dry-run", "only show what would run")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (name: string, options: BackfillOptions) => {
    const { requireJob } = await import("../store/job.ts");
    const { backfill } = await import("../store/manual-backfill.ts");
    await withStore(options, async (db) => {
      const job = await requireJob(db, name);
      const items = await backfill(db, job, options, { ...deedOf(options), dryRun: options.dryRun ?? false });
      const count = items.filter((item) => item.action === "run").length;
      if (options.json) {
        printJson({ job: name, dryRun: options.dryRun ?? false, items });
        return;
      }
      if (items.length > 0) {
        print(
          table(
            ["fire time", "action"],
            items.map((item) => [
              formatInstant(item.fireTime),
              item.action === "run" ? "run" : `leave (${item.action})`,
            ]),
          ),
        );
      }
      print(
        `${count} of ${items.length} fire(s) ${options.dryRun ? "would run" : "will run"}, one after the other`,
      );
    });
  });
}
