/** `escapement executor-supervisor`: started by the executor, not by people. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";

export function build(): Command {
  return defineCommand("executor-supervisor", "own the children of one executor (started by it)", {
    examples: ["escapement executor-supervisor"],
    exitCodes: [ExitCode.ok],
    notes: "Takes its commands from a pipe on standard input and answers on descriptor 3; of no use by hand.",
  }).action(async () => {
    const { runSupervisor } = await import("../executor/supervisor/main.ts");
    runSupervisor();
  });
}
