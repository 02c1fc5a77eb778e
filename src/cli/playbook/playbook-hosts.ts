/** The hosts of an inventory as playbooks see them: with the roles that their profiles give them. */
import { EscapementError } from "../../base/errors.ts";
import type { PlaybookHost } from "../../provision/playbook/registry.ts";
import { closest } from "../../spec/closest.ts";
import { digest } from "../../spec/digest.ts";
import type { InventoryDefinition } from "../../spec/inventory-definition.ts";
import type { HostRole } from "../../spec/playbook-schema.ts";
import { failOnProblems } from "../problems.ts";

/** Sections of a profile, and the roles they are. */
const roles: readonly (readonly [section: string, role: HostRole])[] = [
  ["scheduler", "scheduler"],
  ["executor", "executor"],
  ["recordStore", "record-store"],
  ["watchman", "watchman"],
];

/** Those with a profile, in the order of the inventory. @throws E_SPEC_INVALID for a profile with problems */
export async function playbookHosts(
  inventory: InventoryDefinition,
  profilePaths: readonly string[] = [],
): Promise<readonly PlaybookHost[]> {
  const { loadProfiles } = await import("../../provision/profile/load-profiles.ts");
  const { profiles, problems } = await loadProfiles(profilePaths);
  failOnProblems(problems);
  return inventory.hosts.flatMap(({ name, profile, failureDomain }) => {
    if (profile === undefined) return [];
    const sections = profiles.get(profile)?.sections;
    return [
      {
        name,
        failureDomain,
        roles: roles.filter(([section]) => sections?.has(section as never)).map(([, role]) => role),
      },
    ];
  });
}

/** @throws E_HOST_UNKNOWN */
export function targetsOf(
  hosts: readonly PlaybookHost[],
  names: readonly string[],
  inventoryFile: string,
): readonly PlaybookHost[] {
  const known = hosts.map((host) => host.name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    throw new EscapementError("E_HOST_UNKNOWN", {
      host: name,
      inventory: inventoryFile,
      suggestion: near === undefined ? "" : `; did you mean ${near}?`,
    });
  }
  return hosts.filter((host) => names.includes(host.name));
}

/** Of the names and addresses of all hosts: what a journal binds a run to. Their order and settings may change. */
export function inventoryDigest({ hosts }: InventoryDefinition): string {
  return digest(Object.fromEntries(hosts.map(({ name, target }) => [name, [target.address, target.port]])));
}
