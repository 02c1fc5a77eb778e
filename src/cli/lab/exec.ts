/** `escapement lab exec`: a command as root inside a host, past its network. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type LabChoice, openLab, withLabName } from "./which-lab.ts";

export function buildExec(): Command {
  const command = defineCommand("exec", "run a command as root inside a host, even when its network is cut", {
    examples: [
      "escapement lab exec exec-1 -- systemctl status",
      "escapement lab exec --name two sched-1 -- bash",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes: "Its exit code becomes ours.",
  });
  return withLabName(command)
    .argument("<host>", "a host of the lab")
    .argument("<command...>", "program and arguments, after --")
    .action(async (host: string, argv: readonly string[], options: LabChoice) => {
      process.exitCode = await (await openLab(options)).attach(host, argv);
    });
}
