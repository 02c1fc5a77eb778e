/** `escapement playbook`: ordered procedures on hosts. One file a subcommand, in playbook/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildActions } from "./playbook/actions.ts";
import { buildList } from "./playbook/list.ts";
import { buildRun } from "./playbook/run.ts";
import { buildShow } from "./playbook/show.ts";

export function build(): Command {
  const command = defineCommand("playbook", "list, show and run ordered procedures on hosts", {
    examples: ["escapement playbook list", "escapement playbook run bootstrap -i inventory.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const buildSubcommand of [buildList, buildShow, buildRun, buildActions])
    command.addCommand(buildSubcommand());
  return command;
}
