/** Which variables a host ends up with: of all its groups, the nearest last, and then its own. */
import type { AnsibleModel, AnsibleVariables } from "./ansible-inventory-model.ts";

export interface MergedHost {
  readonly variables: AnsibleVariables;
  /** Every group it is in, directly or through children, farthest first; without `all` and `ungrouped`. */
  readonly groups: readonly string[];
}

/** More is an accident; below it, groups within groups are no danger to the stack. */
const mostGroups = 2_000;

/** Complains in the model about groups that contain themselves and children that are nowhere defined. */
export function mergeHosts(model: AnsibleModel): ReadonlyMap<string, MergedHost> {
  if (model.groups.size > mostGroups) {
    const { file } = [...model.hosts.values()][0] ?? { file: "inventory" };
    model.complain({ file, line: 0, column: 0 }, `has more than ${mostGroups} groups`);
    return new Map();
  }
  const parents = parentsOf(model);
  const depths = depthsOf(model, parents);
  const priority = (name: string) =>
    Number(model.groups.get(name)?.variables.get("ansible_group_priority")?.value ?? 1) || 1;
  const membership = new Map<string, Set<string>>();
  for (const group of model.groups.values()) {
    for (const host of group.hosts) {
      const mine = membership.get(host) ?? new Set<string>();
      membership.set(host, mine);
      addWithParents(group.name, parents, mine);
    }
  }
  const merged = new Map<string, MergedHost>();
  for (const host of model.hosts.values()) {
    const groups = [...(membership.get(host.name) ?? [])].filter(
      (name) => name !== "all" && name !== "ungrouped",
    );
    groups.sort(
      (a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0) || priority(a) - priority(b) || (a < b ? -1 : 1),
    );
    const variables: AnsibleVariables = new Map();
    for (const name of ["all", ...groups])
      for (const [key, value] of model.groups.get(name)?.variables ?? []) variables.set(key, value);
    for (const [key, value] of host.variables) variables.set(key, value);
    merged.set(host.name, { variables, groups });
  }
  return merged;
}

function parentsOf(model: AnsibleModel): Map<string, string[]> {
  const parents = new Map<string, string[]>();
  for (const group of model.groups.values()) {
    for (const [child, at] of group.children) {
      if (!model.groups.get(child)?.defined) model.complain(at, `${child} is not a group of this inventory`);
      parents.set(child, [...(parents.get(child) ?? []), group.name]);
    }
  }
  return parents;
}

/** How far below the top a group is, at most. */
function depthsOf(model: AnsibleModel, parents: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const depths = new Map<string, number>();
  const open = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    if (open.has(name)) {
      const at = [...(model.groups.get(name)?.children.values() ?? [])][0];
      if (at && !model.problems.some(({ message }) => message.endsWith("contains itself")))
        model.complain(at, `${name} contains itself`);
      return 0;
    }
    open.add(name);
    const depth = Math.max(0, ...(parents.get(name) ?? []).map((parent) => depthOf(parent) + 1));
    open.delete(name);
    depths.set(name, depth);
    return depth;
  };
  for (const name of model.groups.keys()) depthOf(name);
  return depths;
}

function addWithParents(
  name: string,
  parents: ReadonlyMap<string, readonly string[]>,
  found: Set<string>,
): void {
  if (found.has(name)) return;
  found.add(name);
  for (const parent of parents.get(name) ?? []) addWithParents(parent, parents, found);
}
