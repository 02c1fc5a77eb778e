/** `escapement playbook list`. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { print, printJson, table } from "../terminal.ts";
import { type PlaybookOptions, readPlaybooks, withPlaybooksOption } from "./playbook-files.ts";

const forWhom = { cluster: "the cluster", "one-host": "one host", hosts: "one or more hosts" } as const;

export function buildList(): Command {
  const command = defineCommand("list", "list the playbooks", {
    examples: ["escapement playbook list", "escapement playbook list --json"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  }).option("--json", "print one JSON document");
  return withPlaybooksOption(command).action(async (options: PlaybookOptions & { json?: boolean }) => {
    const playbooks = await readPlaybooks(options);
    if (options.json) {
      printJson({
        playbooks: playbooks.map(({ name, file, spec }) => ({
          name,
          file,
          target: spec.target,
          description: spec.description,
          steps: spec.steps.length,
        })),
      });
      return;
    }
    const rows = playbooks.map(({ name, spec }) => [
      name,
      forWhom[spec.target],
      String(spec.steps.length),
      spec.description,
    ]);
    print(table(["playbook", "for", "steps", "what it does"], rows));
  });
}
