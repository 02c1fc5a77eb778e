/** `escapement store prune`: drops months that are past retention. */
import type { Command } from "commander";
import { formatBytes } from "../../base/bytes.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson, table } from "../terminal.ts";

interface PruneOptions extends StoreOptions, DeedOptions {
  readonly months?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function buildPrune(): Command {
  const command = defineCommand("prune", "drop the records of months past retention, whole", {
    examples: [
      "escapement store prune --dry-run --reason 'yearly review'",
      "escapement store prune --reason 'monthly routine'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes:
      "A month with an unfinished execution is kept. What is forgotten is never run again: older fires are refused.",
  })
    .option(
      "--months <n>",
      "months to keep besides the running one (default: the cluster's setting)",
      countOption(1, 1200),
    )
    .option("--dry-run", "only show what would go")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (options: PruneOptions) => {
    const { prunable, prune } = await import("../../store/retention.ts");
    const { readCluster } = await import("../../store/cluster.ts");
    await withStore(options, async (db) => {
      const months = options.months ?? (await readCluster(db)).retentionMonths;
      const { before, partitions } = await prunable(db, months);
      const dropped = options.dryRun ? [] : await prune(db, before, deedOf(options));
      if (options.json) return printJson({ before, dryRun: options.dryRun ?? false, partitions, dropped });
      if (partitions.length > 0) {
        print(
          table(
            ["month", "table", "size"],
            partitions.map((one) => [one.month, one.table, formatBytes(one.bytes)]),
          ),
        );
      }
      const verb = options.dryRun ? "would be dropped" : "dropped";
      print(
        `${options.dryRun ? partitions.length : dropped.length} partition(s) ${verb}, all before ${formatInstant(before)}`,
      );
    });
  });
}
