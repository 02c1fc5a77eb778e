/** `escapement lab`: throw-away hosts to try everything on, and ways to break them. One file a subcommand, in lab/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildClock } from "./lab/clock.ts";
import { buildCut, buildHeal } from "./lab/cut.ts";
import { buildDown } from "./lab/down.ts";
import { buildExec } from "./lab/exec.ts";
import { buildKeep } from "./lab/keep.ts";
import { buildPowerOff, buildPowerOn } from "./lab/power.ts";
import { buildStatus } from "./lab/status.ts";
import { buildUp } from "./lab/up.ts";

const summary = "throw-away hosts to try everything on, and ways to break them";

export function build(): Command {
  const command = defineCommand("lab", summary, {
    examples: [
      "escapement lab up -o my-lab",
      "escapement lab exec exec-1 -- systemctl status",
      "escapement lab cut sched-1",
      "escapement lab down",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
  });
  const subcommands = [
    buildUp,
    buildStatus,
    buildExec,
    buildCut,
    buildHeal,
    buildPowerOff,
    buildPowerOn,
    buildClock,
    buildDown,
  ];
  for (const one of subcommands) command.addCommand(one());
  command.addCommand(buildKeep(), { hidden: true });
  return command;
}
