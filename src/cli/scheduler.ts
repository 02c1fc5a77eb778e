/** `escapement scheduler`: runs one scheduler until it is told to stop. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";

export function build(): Command {
  return defineCommand("scheduler", "run a scheduler; of several, one leads and the others stand by", {
    examples: ["escapement scheduler --cluster cluster.yaml --node sched-a"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "SIGTERM or Ctrl-C gives the leadership back and ends the process. A store that is away is waited for.",
  })
    .requiredOption("--cluster <file>", "cluster file: store, leases, nodes and ports")
    .option("--node <name>", "which scheduler of the file this is (may be left out when it has one)")
    .action(async (options: { cluster: string; node?: string }) => {
      const { runScheduler } = await import("./scheduler-process.ts");
      await runScheduler(options);
    });
}
