/** `escapement executor`: runs jobs on this host until it is told to stop. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";

export function build(): Command {
  return defineCommand("executor", "run an executor: claim shards and run their commands", {
    examples: ["escapement executor --cluster cluster.yaml --node worker-1"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable, ExitCode.interrupted],
    notes:
      "SIGTERM or Ctrl-C drains: children get SIGTERM, what does not end within the grace time is killed, and\nunfinished shards go back to the others. A second signal does so at once. A store that is away is waited for.",
  })
    .requiredOption("--cluster <file>", "cluster file: store, lease, nodes, slots and logs")
    .option("--node <name>", "which executor of the file this is (may be left out when it has one)")
    .action(async (options: { cluster: string; node?: string }) => {
      const { runExecutor } = await import("./executor-process.ts");
      await runExecutor(options);
    });
}
