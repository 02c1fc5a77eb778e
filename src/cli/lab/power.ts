/** `escapement lab power-off` and `power-on`: the plug of a host. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { say } from "../terminal.ts";
import { type LabChoice, openLab, withLabName } from "./which-lab.ts";

export function buildPowerOff(): Command {
  const command = defineCommand(
    "power-off",
    "pull the plug of a host: all of its processes are gone at once",
    {
      examples: ["escapement lab power-off sched-1"],
      exitCodes: [ExitCode.ok, ExitCode.unavailable],
      notes: "Its disk keeps what was written, synced or not; losing that needs a virtual machine.",
    },
  );
  return withLabName(command)
    .argument("<host>", "a host of the lab")
    .action(async (host: string, options: LabChoice) => {
      await (await openLab(options)).powerOff(host);
      say(`${host} is off`);
    });
}

export function buildPowerOn(): Command {
  const command = defineCommand("power-on", "start a host that is off, from its own disk", {
    examples: ["escapement lab power-on sched-1"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  });
  return withLabName(command)
    .argument("<host>", "a host of the lab")
    .action(async (host: string, options: LabChoice) => {
      await (await openLab(options)).powerOn(host);
      say(`${host} is on and answers`);
    });
}
