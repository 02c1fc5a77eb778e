/** `escapement capacity topology`: may scheduler and executor share machines? */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { Topology } from "../../capacity/machine/topology.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, table } from "../terminal.ts";
import { type MachineOptions, machineOf, withMachineOptions } from "./machine-options.ts";

interface TopologyOptions extends MachineOptions {
  readonly workload?: string;
  readonly json?: boolean;
}

export function buildTopology(): Command {
  const command = defineCommand("topology", "may scheduler and executor share machines?", {
    examples: [
      "escapement capacity topology --workload workload.yaml --cores 16 --memory 64GiB --network 1.25GB",
      "escapement capacity topology --here --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes:
      "Ends with 0 when they may share, 1 when they must not, 5 when it is not known: unknown is not a no.",
  }).option("--workload <file>", "workload file (default: the reference workload)");
  return withMachineOptions(command)
    .option("--json", "print one JSON document")
    .action(async (options: TopologyOptions) => {
      const { judgeTopology } = await import("../../capacity/machine/topology.ts");
      const { loadWorkload } = await import("./data-files.ts");
      const { spec } = await loadWorkload(options.workload);
      const answer = judgeTopology(spec, await machineOf(options));
      if (options.json) printJson({ ...answer });
      else printTopology(answer);
      if (answer.verdict === "separate") process.exitCode = ExitCode.failed;
      if (answer.verdict === "separate-until-known") process.exitCode = ExitCode.unknown;
    });
}

function printTopology({ verdict, why, conditions }: Topology): void {
  const words = {
    separate: "keep them apart",
    "separate-until-known": "keep them apart until it is known",
    "may-share": "they may share machines",
  };
  print(
    `${paint.bold(verdict === "may-share" ? paint.green(words[verdict]) : paint.yellow(words[verdict]))}: ${why}`,
  );
  print();
  print(
    table(
      ["condition", "holds", "reason", "how"],
      conditions.map((one) => [one.question, paint.bold(one.holds), one.reason, one.formula]),
    ),
  );
}
