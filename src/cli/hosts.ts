/** `escapement hosts`: which hosts there are, whether they can be reached, and whose keys are trusted. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildList } from "./hosts/list.ts";
import { buildPing } from "./hosts/ping.ts";
import { buildTrust } from "./hosts/trust.ts";

export function build(): Command {
  const command = defineCommand("hosts", "list the hosts, try to reach them, trust their keys", {
    examples: ["escapement hosts list -i inventory.yaml", "escapement hosts trust --help"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const buildSubcommand of [buildList, buildPing, buildTrust]) command.addCommand(buildSubcommand());
  return command;
}
