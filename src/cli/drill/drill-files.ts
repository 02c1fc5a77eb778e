/** The drills that come with the program, and those of the site in place of equal names. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { closest } from "../../spec/closest.ts";
import type { DrillVariant, ResolvedDrill } from "../../spec/drill-definition.ts";
import type { LoadedDrills } from "../../spec/resolve-drill.ts";
import { failOnProblems } from "../problems.ts";

export interface DrillFileOptions {
  readonly drills?: readonly string[];
}

/** Adds `--drills PATH…`. */
export function withDrillsOption(command: Command): Command {
  return command.option("--drills <path...>", "drills of the site, in place of those of equal names");
}

/** By name. @throws E_SPEC_INVALID after telling every problem on standard error */
export async function readDrills({
  drills: paths = [],
}: DrillFileOptions): Promise<ReadonlyMap<string, ResolvedDrill>> {
  const { loadDrills } = await import("../../spec/resolve-drill.ts");
  const { findingClasses } = await import("../../chaos/checkers/finding.ts");
  const nothing: LoadedDrills = { drills: [], problems: [] };
  const folder = shippedDrills();
  const classes = Object.keys(findingClasses);
  const shipped = folder === undefined ? nothing : await loadDrills([folder], classes);
  const own = paths.length > 0 ? await loadDrills(paths, classes) : nothing;
  failOnProblems([...shipped.problems, ...own.problems]);
  const all = [...shipped.drills, ...own.drills].map((drill) => [drill.definition.name, drill] as const);
  return new Map([...new Map(all)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws E_DRILL_UNKNOWN */
export async function requireDrill(name: string, options: DrillFileOptions): Promise<ResolvedDrill> {
  return chooseDrill(await readDrills(options), name);
}

/** @throws E_DRILL_UNKNOWN */
export function chooseDrill(drills: ReadonlyMap<string, ResolvedDrill>, name: string): ResolvedDrill {
  const found = drills.get(name);
  if (found) return found;
  const near = closest(name, [...drills.keys()]);
  throw new EscapementError("E_DRILL_UNKNOWN", {
    drill: name,
    suggestion: near === undefined ? "" : `; did you mean ${near}?`,
  });
}

/** The named variants in the order of the drill; all without names. @throws E_BAD_VALUE */
export function chooseVariants(
  { definition }: ResolvedDrill,
  names: readonly string[] = [],
): readonly DrillVariant[] {
  const known = definition.variants.map(({ name }) => name);
  for (const name of names)
    if (!known.includes(name))
      throw new EscapementError("E_BAD_VALUE", {
        option: "--variant",
        value: name,
        expected: `a variant of ${definition.name}`,
        hint: `it has: ${known.join(", ")}`,
      });
  return definition.variants.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Seen from the source as from the bundle; undefined where only the bundle was copied. */
function shippedDrills(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    if (existsSync(join(folder, "chaos", "kill-executor.yaml"))) return join(folder, "chaos");
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}
