/** Reads an inventory file: ours, or one of Ansible's. Never throws for what is in it. */
import type { InventoryDefinition } from "./inventory-definition.ts";
import { loadText } from "./load.ts";
import type { Problem } from "./problem.ts";
import { readText } from "./read-text.ts";
import { resolveInventory } from "./resolve-inventory.ts";

export interface LoadedInventory {
  /** Undefined when there is any problem. */
  readonly inventory: InventoryDefinition | undefined;
  readonly problems: readonly Problem[];
}

/** @param file our own YAML (`kind: Inventory`), or an Ansible inventory in INI or YAML */
export async function loadInventory(file: string): Promise<LoadedInventory> {
  const read = await readText(file);
  if ("problem" in read) return { inventory: undefined, problems: [read.problem] };
  return parseInventory(read.text, file);
}

/** The same for a text that is already read. */
export function parseInventory(text: string, file: string): LoadedInventory {
  return ownInventory(text, file);
}

function ownInventory(text: string, file: string): LoadedInventory {
  const { documents, problems } = loadText(text, file);
  if (problems.length > 0) return { inventory: undefined, problems };
  const inventories = documents.filter(({ kind }) => kind === "Inventory");
  const [first, second] = inventories;
  if (!first || second) {
    const message = second
      ? "is a second kind: Inventory; name a file with one"
      : "has no document of kind: Inventory";
    const { line, column } = second ?? { line: 0, column: 0 };
    return { inventory: undefined, problems: [{ file, line, column, path: "", message }] };
  }
  return resolveInventory(first);
}
