/** `escapement lab clock`: a wrong wall clock for all units of one host. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { say } from "../terminal.ts";
import { type LabChoice, openLab, withLabName } from "./which-lab.ts";

/** A hundred years; beyond that the shifted time is no time. */
const mostSeconds = 100 * 366 * 86_400;

export function buildClock(): Command {
  const command = defineCommand("clock", "shift the wall clock of a host's units, running ones included", {
    examples: [
      "escapement lab clock exec-1 +300",
      "escapement lab clock exec-1 -- -300",
      "escapement lab clock exec-1 0",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes:
      "The kernel's clock, systemd's own and that of ssh logins stay right: for those a virtual machine is needed.",
  });
  return withLabName(command)
    .argument("<host>", "a host of the lab")
    .argument("<seconds>", "ahead (+300) or behind (-300) the right time; 0 is the right time")
    .action(async (host: string, text: string, options: LabChoice) => {
      const seconds = Number(text);
      if (!/^[+-]?\d+(\.\d+)?$/.test(text) || Math.abs(seconds) > mostSeconds)
        throw new EscapementError("E_BAD_VALUE", {
          option: "<seconds>",
          value: text,
          expected: "a number of seconds",
          hint: "write for example +300, -300 or 0",
        });
      await (await openLab(options)).clock(host, seconds);
      say(seconds === 0 ? `the clock of ${host} is right` : `the clock of ${host} is ${text} s off`);
    });
}
