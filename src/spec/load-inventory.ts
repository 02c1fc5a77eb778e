/** Reads an inventory file: ours, or one of Ansible's. Never throws for what is in it. */
import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseAnsibleInventory } from "./ansible-inventory.ts";
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
  const loaded = parseInventory(read.text, file);
  return loaded.inventory?.format === "ansible" ? withNotesOnFolders(loaded) : loaded;
}

/** The same for a text that is already read. */
export function parseInventory(text: string, file: string): LoadedInventory {
  const format = formatOf(text, file);
  return format === "own" ? ownInventory(text, file) : parseAnsibleInventory(text, file, format);
}

/** Ours says what it is; of the others the name of the file decides, and without one the first line. */
function formatOf(text: string, file: string): "own" | "ini" | "yaml" {
  if (/^(apiVersion|kind)[ \t]*:/m.test(text)) return "own";
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const first = lines.find((line) => line !== "" && !/^\s*[#;]/.test(line)) ?? "";
  if (/\.(ya?ml|json)$/i.test(file)) {
    // A YAML file without groups is an unfinished one of ours, not of Ansible's.
    return /^(---|\{|[\w.-]+:$)/.test(first) ? "yaml" : "own";
  }
  return /^(---$|\{|[\w.-]+:$)/.test(first) ? "yaml" : "ini";
}

/** Ansible reads more files than the one that is named; we do not. */
async function withNotesOnFolders({ inventory, problems }: LoadedInventory): Promise<LoadedInventory> {
  if (!inventory) return { inventory, problems };
  const notes = [...inventory.notes];
  for (const name of ["group_vars", "host_vars"]) {
    const folder = join(dirname(resolve(inventory.file)), name);
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory()) notes.push(`${folder} is not read; put what is needed into ${inventory.file}`);
  }
  return { inventory: { ...inventory, notes }, problems };
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
