/** The playbooks that come with the program, and those of the site in place of equal names. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import type { LoadedPlaybooks, Playbook } from "../../provision/playbook/load-playbook.ts";
import { closest } from "../../spec/closest.ts";
import { failOnProblems } from "../problems.ts";

export interface PlaybookOptions {
  readonly playbooks?: readonly string[];
}

/** Adds `--playbooks PATH…`. */
export function withPlaybooksOption(command: Command): Command {
  return command.option("--playbooks <path...>", "playbooks of the site, in place of those of equal names");
}

/** @throws E_SPEC_INVALID after telling every problem on standard error */
export async function readPlaybooks({
  playbooks: paths = [],
}: PlaybookOptions): Promise<readonly Playbook[]> {
  const { loadPlaybooks } = await import("../../provision/playbook/load-playbook.ts");
  const { registry } = await import("../../provision/playbook/actions/index.ts");
  const folder = shippedPlaybooks();
  const nothing: LoadedPlaybooks = { playbooks: [], problems: [] };
  const shipped = folder === undefined ? nothing : await loadPlaybooks([folder], registry);
  const own = paths.length > 0 ? await loadPlaybooks(paths, registry) : nothing;
  failOnProblems([...shipped.problems, ...own.problems]);
  const byName = new Map([...shipped.playbooks, ...own.playbooks].map((one) => [one.name, one]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @throws E_BAD_VALUE for a name that no playbook has */
export async function requirePlaybook(name: string, options: PlaybookOptions): Promise<Playbook> {
  const playbooks = await readPlaybooks(options);
  const found = playbooks.find((one) => one.name === name);
  if (found) return found;
  const names = playbooks.map((one) => one.name);
  const near = closest(name, names);
  throw new EscapementError("E_BAD_VALUE", {
    option: "NAME",
    value: name,
    expected: "a playbook",
    hint: `${near === undefined ? "" : `did you mean ${near}? `}there are: ${names.join(", ")}`,
  });
}

/** Seen from the source as from the bundle. */
function shippedPlaybooks(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    if (existsSync(join(folder, "playbooks", "bootstrap.yaml"))) return join(folder, "playbooks");
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}
