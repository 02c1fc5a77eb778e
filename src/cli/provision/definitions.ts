/** What commands that plan hosts work with: inventory, profiles, and the way to the hosts. */

import { join } from "node:path";
import type { Command } from "commander";
import { cacheHome } from "../../base/cache-home.ts";
import type { FactCache } from "../../provision/plan/fact-cache.ts";
import type { Describe } from "../../provision/plan/fleet-plan.ts";
import type { ProfileSet } from "../../provision/profile/load-profiles.ts";
import type { InventoryDefinition, InventoryHost } from "../../spec/inventory-definition.ts";
import { connectionFor, type Reach, type ReachOptions, withReachOptions } from "../hosts/reach-options.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "../inventory-file.ts";
import { failOnProblems } from "../problems.ts";

export interface DefinitionOptions extends InventoryOptions, ReachOptions {
  readonly profiles?: readonly string[];
  readonly freshFacts?: boolean;
}

export interface Definitions {
  readonly inventory: InventoryDefinition;
  readonly hosts: readonly InventoryHost[];
  readonly describe: Describe;
  readonly cache: FactCache;
  readonly reach: Reach;
  /** Address and port of the scheduler that a host's profile runs; undefined where it runs none. */
  schedulerOf(host: InventoryHost): { readonly address: string; readonly port: number } | undefined;
}

export function withDefinitionOptions(command: Command): Command {
  return withReachOptions(
    withInventoryOption(command)
      .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
      .option("--fresh-facts", "gather the hosts' facts anew, also within an hour and the same boot"),
  );
}

const factAgeMs = 3_600_000;

/** @throws E_SPEC_INVALID, E_HOST_UNKNOWN */
export async function loadDefinitions(
  names: readonly string[],
  options: DefinitionOptions,
): Promise<Definitions> {
  const inventory = await requireInventory(options);
  const { loadProfiles } = await import("../../provision/profile/load-profiles.ts");
  const { compileProfile } = await import("../../provision/profile/compile-profile.ts");
  const { lintInventory } = await import("../../provision/profile/lint-inventory.ts");
  const { cachedProfiles } = await import("../../provision/profile/profile-cache.ts");
  const { shippedProfiles } = await import("../../provision/profile/shipped-profiles.ts");
  const own = options.profiles ?? [];
  const profiles = await cachedProfiles(join(cacheFolder(), "profiles"), shippedProfiles(), own, () =>
    loadProfiles(own),
  );
  failOnProblems(profiles.problems);
  failOnProblems(lintInventory(inventory, profiles));
  return {
    inventory,
    hosts: chooseHosts(inventory, names),
    describe: (host, facts) => compileProfile({ host, inventory, profiles, facts }),
    cache: await cacheFor(inventory.file, options),
    reach: await connectionFor(options),
    schedulerOf: (host) => schedulerOf(host, profiles),
  };
}

function schedulerOf(host: InventoryHost, { profiles }: ProfileSet) {
  const section =
    host.profile === undefined ? undefined : profiles.get(host.profile)?.sections.get("scheduler");
  if (!section) return undefined;
  const { httpPort } = section.value as { httpPort: number };
  const own = host.settings.clusterAddress;
  return { address: typeof own === "string" ? own : host.target.address, port: httpPort };
}

function cacheFolder(): string {
  return join(cacheHome(), "escapement");
}

async function cacheFor(scope: string, { freshFacts = false }: DefinitionOptions): Promise<FactCache> {
  const { factCache } = await import("../../provision/plan/fact-cache.ts");
  return factCache(join(cacheFolder(), "facts"), scope, freshFacts ? -1 : factAgeMs);
}
