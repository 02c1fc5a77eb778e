/** `escapement capacity from-cluster`: a workload file out of what a live record store has seen. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { counted } from "../../capacity/format.ts";
import { defineCommand } from "../command.ts";
import { withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson, say } from "../terminal.ts";
import { wholeOption } from "./options.ts";
import { saveFile } from "./save-file.ts";

interface FromClusterOptions {
  readonly cluster?: string;
  readonly url?: string;
  readonly days: string;
  readonly name: string;
  readonly output?: string;
  readonly json?: boolean;
}

export function buildFromCluster(): Command {
  const command = defineCommand("from-cluster", "write a workload file from what a record store has seen", {
    examples: [
      "escapement capacity from-cluster --cluster cluster.yaml -o workload.yaml",
      "escapement capacity from-cluster --url postgres://reader@db/records --days 90",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unknown, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Jobs without a finished run are left out and named. What records cannot tell (network, disk operations,\nwhether a job may run away) is left open, not guessed.",
  });
  return withStoreOptions(command)
    .option("--days <number>", "days to look back", "60")
    .option("--name <name>", "name of the workload", "measured")
    .option("-o, --output <file>", "write to this file (default: standard output)")
    .option("--json", "print one JSON document")
    .action(async (options: FromClusterOptions) => {
      const { observeWorkload } = await import("./observed-workload.ts");
      const { workloadText } = await import("./workload-text.ts");
      const days = wholeOption("--days", options.days, 1, 3_660);
      const observed = await withStore(options, (db) => observeWorkload(db, days));
      if (observed.jobs.length === 0) {
        throw new EscapementError("E_UNKNOWN", {
          what: `what runs: the record store has no finished run in ${days} days`,
          hint: "look further back with --days, or write a workload file by hand",
        });
      }
      for (const name of observed.leftOut) say(`${name}: no finished run, left out`);
      const text = workloadText(options.name, observed);
      if (options.output !== undefined) await saveFile(options.output, text);
      if (options.json)
        printJson({ ...observed, ...(options.output !== undefined && { file: options.output }) });
      else if (options.output === undefined) print(text.trimEnd());
      else say(`wrote ${options.output}: ${counted(observed.jobs.length, "job")}`);
    });
}
