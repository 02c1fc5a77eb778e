/** `escapement playbook show NAME`: its steps as a picture. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type InventoryOptions, requireInventory, withInventoryOption } from "../inventory-file.ts";
import { print, printJson } from "../terminal.ts";
import { picture } from "./picture.ts";
import { type PlaybookOptions, requirePlaybook, withPlaybooksOption } from "./playbook-files.ts";
import { playbookHosts, targetsOf } from "./playbook-hosts.ts";

interface ShowOptions extends PlaybookOptions, InventoryOptions {
  readonly host?: readonly string[];
  readonly json?: boolean;
}

export function buildShow(): Command {
  const command = defineCommand("show", "show the steps of a playbook as a picture", {
    examples: ["escapement playbook show drain-host", "escapement playbook show upgrade -i inventory.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes: "With an inventory, each step names the hosts that it goes through, in their order.",
  })
    .argument("<name>", "a playbook")
    .option("--host <name...>", "the hosts it is about")
    .option("--json", "print one JSON document");
  return withPlaybooksOption(withInventoryOption(command)).action(
    async (name: string, options: ShowOptions, self: Command) => {
      const playbook = await requirePlaybook(name, options);
      if (options.json) {
        printJson({ name: playbook.name, file: playbook.file, digest: playbook.digest, ...playbook.spec });
        return;
      }
      // The default inventory is shown when it is there; one that was asked for must be.
      const isAsked = self.getOptionValueSource("inventory") !== "default";
      if (!isAsked && !existsSync(options.inventory)) return print(picture(playbook));
      const inventory = await requireInventory(options);
      const hosts = await playbookHosts(inventory);
      print(picture(playbook, hosts, targetsOf(hosts, options.host ?? [], inventory.file)));
    },
  );
}
