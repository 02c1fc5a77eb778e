/** `escapement lab keep`: the process that keeps a lab of processes after `lab up` has ended. Started by it alone. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";

export function buildKeep(): Command {
  return defineCommand("keep", "what lab up starts to keep a lab of processes", {
    examples: ["escapement lab keep --name small --output small"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .requiredOption("--name <lab>", "the lab that lab up has claimed")
    .requiredOption("-o, --output <folder>", "where cluster.yaml goes")
    .action(async ({ name, output }: { name: string; output: string }) => {
      const { keepLab } = await import("../../lab/processes/keeper.ts");
      await keepLab(name, output);
    });
}
