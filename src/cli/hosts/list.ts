/** `escapement hosts list`: the hosts of the inventory, as they will be reached. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { HostTarget } from "../../spec/inventory-definition.ts";
import { defineCommand } from "../command.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "../inventory-file.ts";
import { print, printJson, table } from "../terminal.ts";

export function buildList(): Command {
  const command = defineCommand("list", "list the hosts of the inventory; nothing is connected to", {
    examples: ["escapement hosts list", "escapement hosts list -i hosts.ini --json"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .argument("[host...]", "only these")
    .option("--json", "print one JSON document");
  return withInventoryOption(command).action(
    async (names: string[], options: InventoryOptions & { json?: boolean }) => {
      const inventory = await requireInventory(options);
      const hosts = chooseHosts(inventory, names, { withoutProfile: true });
      if (options.json) {
        const rows = hosts.map(({ name, profile, failureDomain, settings, target, line }) => ({
          name,
          profile: profile ?? null,
          failureDomain,
          address: target.address,
          port: target.port,
          user: target.user,
          connection: target.connection ?? "ssh",
          jump: target.jump.map(({ host }) => host),
          settings,
          line,
        }));
        printJson({ inventory: inventory.name, file: inventory.file, hosts: rows });
        return;
      }
      const rows = hosts.map(({ name, profile, failureDomain, target }) => [
        name,
        profile ?? "-",
        failureDomain,
        wayTo(target),
      ]);
      print(table(["host", "profile", "failure domain", "reached as"], rows));
    },
  );
}

function wayTo(target: HostTarget): string {
  if (target.connection === "local") return "this machine";
  const address = target.address.includes(":") ? `[${target.address}]` : target.address;
  const over = target.jump.map(({ host }) => host).join(", ");
  return `${target.user}@${address}:${target.port}${over && ` over ${over}`}`;
}
