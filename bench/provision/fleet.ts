/** Plans of hundreds of simulated hosts at the end of a line of 30 ms. */
import { spawnSync } from "node:child_process";
import { gatherScript } from "../../src/hardware/gather/gather-script.ts";
import type { HostFacts } from "../../src/hardware/host-facts.ts";
import { type Describe, planFleet } from "../../src/provision/plan/fleet-plan.ts";
import { changesOf } from "../../src/provision/plan/host-plan.ts";
import { compileProfile } from "../../src/provision/profile/compile-profile.ts";
import { resolveProfiles } from "../../src/provision/profile/load-profiles.ts";
import type { Resource } from "../../src/provision/resource.ts";
import { fakeConnector } from "../../src/remote/fake-remote.ts";
import { documentsOf, loadText } from "../../src/spec/load.ts";
import { parseInventory } from "../../src/spec/load-inventory.ts";
import {
  bootId,
  bulkProfile,
  namesOf,
  simulatedHost,
  targetsOf,
} from "../../test/provision/fleet-plan-hosts.ts";

export interface FleetRun {
  readonly hosts: number;
  readonly seconds: number;
  /** Of this process, in user and system mode. */
  readonly cpuSeconds: number;
  readonly rssMib: number;
  readonly heapMib: number;
}

/** The inventory of `count` hosts of one profile, as a user would write it. */
function inventoryText(names: readonly string[]): string {
  const hosts = names.map((name, i) => ({ name, address: `10.1.${i >> 8}.${i & 255}`, profile: "bulk" }));
  return `apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: simulated }\nspec: ${JSON.stringify({ hosts })}\n`;
}

/**
 * @param withFacts facts of an earlier plan serve again, as within an hour of it
 * @throws where a host could not be planned, or the planted drift is not what was found
 */
export async function planSimulated(
  count: number,
  concurrency: number,
  withFacts: boolean,
): Promise<FleetRun> {
  const names = namesOf(count);
  const loaded = loadText(bulkProfile(), "bulk.yaml");
  const profiles = resolveProfiles(documentsOf(loaded.documents, "HostProfile"), loaded.problems);
  const { inventory } = parseInventory(inventoryText(names), "simulated.yaml");
  if (!inventory || profiles.problems.length > 0) throw new Error("the simulated site is not valid");
  const script = gatherScript("ANONCE00");
  const gathered = spawnSync("sh", ["-s"], { input: script, encoding: "utf8", maxBuffer: 1 << 26 })
    .stdout.replaceAll("ANONCE00", "@NONCE@")
    .replace(/^[0-9a-f-]{36}$/m, bootId);
  let wanted: readonly Resource[] = [];
  const describe: Describe = (host, facts) => {
    const compiled = compileProfile({ host, inventory, profiles, facts });
    wanted = compiled.resources;
    return compiled;
  };
  const drifted = `node-${Math.ceil(count / 2)}`;
  const fleet = new Map(
    names.map((name) => [
      name,
      simulatedHost({
        resources: () => wanted,
        gathered,
        roundTripMs: 30,
        ...(name === drifted && { drift: { "/etc/bulk/file-17.conf": "by hand\n" } }),
      }),
    ]),
  );
  const facts = new Map<string, HostFacts>();
  const cache = {
    get: async (host: string) => facts.get(host),
    put: async (host: string, found: HostFacts) => void facts.set(host, found),
  };
  const plan = () =>
    planFleet({ connect: fakeConnector(fleet), targets: targetsOf(names), describe, concurrency, cache });
  if (withFacts) await plan();
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const results = await plan();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  // What the plans themselves hold; they are in use below.
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const changed = results.flatMap((one) =>
    one.status === "ok" && changesOf(one.value.plan).length > 0 ? [one.host] : [],
  );
  if (results.some(({ status }) => status !== "ok") || changed.join() !== drifted)
    throw new Error(`the plan is wrong: ${changed.join(", ")} to change`);
  return {
    hosts: count,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rssMib: rss / 2 ** 20,
    heapMib: heapUsed / 2 ** 20,
  };
}
