/** A small site to compile profiles for. */

import type { HostFacts } from "../../../src/hardware/host-facts.ts";
import { type CompiledProfile, compileProfile } from "../../../src/provision/profile/compile-profile.ts";
import {
  loadProfiles,
  type ProfileSet,
  resolveProfiles,
} from "../../../src/provision/profile/load-profiles.ts";
import type { FileResource, Resource } from "../../../src/provision/resource.ts";
import type { InventoryDefinition } from "../../../src/spec/inventory-definition.ts";
import { documentsOf, loadFiles, loadText } from "../../../src/spec/load.ts";
import { parseInventory } from "../../../src/spec/load-inventory.ts";
import { formatProblem } from "../../../src/spec/problem.ts";

export interface SiteHost {
  readonly name: string;
  readonly profile: string;
  readonly address: string;
  readonly failureDomain?: string;
  readonly settings?: Readonly<Record<string, string | number | readonly string[]>>;
}

export const siteSettings = {
  timeSources: ["10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"],
  virtualIp: "10.0.0.100/24",
  virtualRouterId: 51,
  jobUsers: ["settle", "payout"],
  logArchive: "/srv/archive",
  watchFile: "test/cases/provision/watch.yaml",
} as const;

export const siteHosts: readonly SiteHost[] = [
  { name: "sched-a", profile: "scheduler", address: "10.0.0.11", failureDomain: "rack-a" },
  { name: "sched-b", profile: "scheduler", address: "10.0.0.12", failureDomain: "rack-b" },
  { name: "exec-1", profile: "executor-cpu", address: "10.0.0.21" },
  { name: "exec-2", profile: "executor-memory", address: "10.0.0.22" },
  { name: "exec-3", profile: "executor-io", address: "10.0.0.23" },
  { name: "store", profile: "record-store", address: "10.0.0.31" },
  { name: "watch", profile: "watchman", address: "10.0.0.41" },
];

export function inventoryOf(
  hosts: readonly SiteHost[] = siteHosts,
  settings: Readonly<Record<string, unknown>> = siteSettings,
): InventoryDefinition {
  const { inventory, problems } = parseInventory(
    [
      "apiVersion: escapement/v1",
      "kind: Inventory",
      "metadata: { name: site }",
      `spec: ${JSON.stringify({ defaults: { user: "root", port: 22 }, settings, hosts })}`,
    ].join("\n"),
    "site.yaml",
  );
  if (!inventory) throw new Error(problems.map(formatProblem).join("\n"));
  return inventory;
}

let shipped: Promise<ProfileSet> | undefined;
export function shippedSet(): Promise<ProfileSet> {
  shipped ??= loadProfiles();
  return shipped;
}

/** The shipped profiles and one of the test's own, from YAML. */
export async function withProfile(text: string): Promise<ProfileSet> {
  const base = await loadFiles(["profiles"]);
  const own = loadText(text, "own.yaml");
  return resolveProfiles(
    [...documentsOf(base.documents, "HostProfile"), ...documentsOf(own.documents, "HostProfile")],
    [...base.problems, ...own.problems],
  );
}

export async function compileFor(
  host: string,
  facts: HostFacts,
  options: { readonly inventory?: InventoryDefinition; readonly profiles?: ProfileSet } = {},
): Promise<CompiledProfile> {
  return compileProfile({
    host,
    facts,
    inventory: options.inventory ?? inventoryOf(),
    profiles: options.profiles ?? (await shippedSet()),
  });
}

export function fileAt({ resources }: CompiledProfile, path: string): FileResource {
  const found = resources.find((one): one is FileResource => one.kind === "file" && one.path === path);
  if (!found) throw new Error(`no file ${path}; there are ${resources.map(({ id }) => id).join(" ")}`);
  return found;
}

export function resourceOf({ resources }: CompiledProfile, id: string): Resource {
  const found = resources.find((one) => one.id === id);
  if (!found) throw new Error(`no ${id}; there are ${resources.map((one) => one.id).join(" ")}`);
  return found;
}

export function valueAt({ provenance }: CompiledProfile, key: string): string | undefined {
  return provenance.find((one) => one.key === key)?.value;
}
