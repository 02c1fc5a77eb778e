/** The inventory a command works with, and the hosts of it that were named. */
import { type Command, Option } from "commander";
import { EscapementError } from "../base/errors.ts";
import { closest } from "../spec/closest.ts";
import type { InventoryDefinition, InventoryHost } from "../spec/inventory-definition.ts";
import { failOnProblems } from "./problems.ts";
import { say } from "./terminal.ts";

export interface InventoryOptions {
  readonly inventory: string;
}

/** Adds `-i, --inventory FILE`. */
export function withInventoryOption(command: Command): Command {
  const option = new Option(
    "-i, --inventory <file>",
    "the inventory: ours, or an Ansible one in INI or YAML",
  );
  // A variable that is set to nothing is not set; an option that is, is a mistake.
  if (process.env.ESCAPEMENT_INVENTORY !== "") option.env("ESCAPEMENT_INVENTORY");
  return command.addOption(option.default("inventory.yaml"));
}

/** @throws E_SPEC_INVALID after telling every problem on standard error */
export async function requireInventory({ inventory: file }: InventoryOptions): Promise<InventoryDefinition> {
  const { loadInventory } = await import("../spec/load-inventory.ts");
  const { inventory, problems } = await loadInventory(file);
  failOnProblems(problems);
  if (!inventory) throw new EscapementError("E_BUG", { what: `no inventory and no problem in ${file}` });
  for (const note of inventory.notes) say(`note: ${note}`);
  return inventory;
}

/**
 * The named hosts in the order of the inventory; without names all that have a profile.
 * @throws E_HOST_UNKNOWN for the first name that is not in the inventory
 */
export function chooseHosts(
  inventory: InventoryDefinition,
  names: readonly string[],
  { withoutProfile = false }: { withoutProfile?: boolean } = {},
): readonly InventoryHost[] {
  const known = inventory.hosts.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    throw new EscapementError("E_HOST_UNKNOWN", {
      host: name,
      inventory: inventory.file,
      suggestion: near === undefined ? "" : `; did you mean ${near}?`,
    });
  }
  return inventory.hosts.filter((host) =>
    names.length > 0 ? names.includes(host.name) : withoutProfile || host.profile !== undefined,
  );
}
