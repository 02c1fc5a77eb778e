/** What an inventory and the profiles do not agree about, before any host is looked at. */
import { parseGathered } from "../../hardware/gather/gathered.ts";
import { closest } from "../../spec/closest.ts";
import type { InventoryDefinition } from "../../spec/inventory-definition.ts";
import { compareProblems, type Problem } from "../../spec/problem.ts";
import { type CompileInput, compileProfile } from "./compile-profile.ts";
import type { ProfileSet } from "./load-profiles.ts";
import { idOf } from "./user-resources.ts";

/** Hosts with a profile that there is not, and resources that wait for something nobody makes. */
export function lintInventory(inventory: InventoryDefinition, profiles: ProfileSet): readonly Problem[] {
  const names = [...profiles.profiles.keys()];
  const unknown = inventory.hosts.flatMap(({ name, profile, file, line, column }): Problem[] => {
    if (profile === undefined || profiles.profiles.has(profile)) return [];
    const suggestion = closest(profile, names);
    return [
      {
        ...{ file, line, column, path: `hosts.${name}.profile` },
        message: "is not a profile that can be used",
        value: JSON.stringify(profile),
        ...(suggestion !== undefined && { suggestion }),
      },
    ];
  });
  if (unknown.length > 0) return unknown.sort(compareProblems);
  const waiting = inventory.hosts.filter(({ profile = "" }) =>
    profiles.profiles.get(profile)?.resources.some(({ resource }) => resource.after.length > 0),
  );
  if (waiting.length === 0) return [];
  const facts = parseGathered("", "nothing");
  const after = waiting.flatMap(({ name }) => unknownAfter({ host: name, inventory, profiles, facts }));
  // Hosts of one profile have its mistakes in common.
  return [...new Map(after.map((one) => [JSON.stringify(one), one])).values()].sort(compareProblems);
}

/**
 * That every `after` in a profile's own list names something this profile makes. Which ids the
 * sections make is asked with facts that say nothing, since no host has been looked at yet.
 */
function unknownAfter(input: CompileInput): readonly Problem[] {
  const own = input.inventory.hosts.find(({ name }) => name === input.host)?.profile ?? "";
  const profile = input.profiles.profiles.get(own);
  if (!profile?.resources.some(({ resource }) => resource.after.length > 0)) return [];
  const ids = compileProfile(input).resources.map(({ id }) => id);
  return profile.resources.flatMap((placed) =>
    placed.resource.after
      .filter((id) => !ids.includes(id))
      .map((id) => {
        const { file, line, column } = placed;
        const suggestion = closest(id, ids);
        return {
          ...{ file, line, column, path: "spec.resources" },
          message: `${idOf(placed.resource)} comes after ${id}, which nothing in this profile makes`,
          ...(suggestion !== undefined && { suggestion }),
        };
      }),
  );
}
