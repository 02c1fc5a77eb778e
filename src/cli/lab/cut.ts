/** `escapement lab cut` and `heal`: packets of a host are dropped at the bridge, where the host cannot see it. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { say } from "../terminal.ts";
import { type LabChoice, openLab, withLabName } from "./which-lab.ts";

interface CutOptions extends LabChoice {
  readonly receiveOnly?: boolean;
  readonly from?: readonly string[];
}

export function buildCut(): Command {
  const command = defineCommand("cut", "cut a host off, from everybody or from some", {
    examples: [
      "escapement lab cut exec-1",
      "escapement lab cut exec-1 --receive-only",
      "escapement lab cut sched-1 --from sched-2 store-1",
      "escapement lab cut sched-1 --from time",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes: "Packets are dropped without an answer. Cuts add up until escapement lab heal.",
  });
  return withLabName(command)
    .argument("<host>", "a host of the lab")
    .option("--receive-only", "nothing reaches the host; what it sends still arrives")
    .option("--from <peers...>", "only from these hosts, from controller (this machine), or from time")
    .action(async (host: string, options: CutOptions) => {
      await (await openLab(options)).cut(host, {
        direction: options.receiveOnly ? "receive" : "both",
        peers: options.from ?? [],
      });
      say(`${host} is cut off`);
    });
}

export function buildHeal(): Command {
  const command = defineCommand("heal", "undo the cuts of a host, or all of them", {
    examples: ["escapement lab heal exec-1", "escapement lab heal"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  });
  return withLabName(command)
    .argument("[host]", "a host of the lab; default: all")
    .action(async (host: string | undefined, options: LabChoice) => {
      await (await openLab(options)).heal(host);
      say(`${host ?? "everything"} is healed`);
    });
}
