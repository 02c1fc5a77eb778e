/** A plan of 500 hosts at the end of a slow line: every host has its own result, and so many at once and no more. */
import { expect, test } from "vitest";
import { gatherScript } from "../../src/hardware/gather/gather-script.ts";
import type { FactCache } from "../../src/provision/plan/fact-cache.ts";
import { type Describe, planFleet } from "../../src/provision/plan/fleet-plan.ts";
import { changesOf, unknownsOf } from "../../src/provision/plan/host-plan.ts";
import { compileProfile } from "../../src/provision/profile/compile-profile.ts";
import { resolveProfiles } from "../../src/provision/profile/load-profiles.ts";
import type { Resource } from "../../src/provision/resource.ts";
import { type FakeFaults, type FakeHost, fakeConnector } from "../../src/remote/fake-remote.ts";
import type { Connect } from "../../src/remote/remote.ts";
import { documentsOf, loadText } from "../../src/spec/load.ts";
import { bulkProfile, namesOf, simulatedHost, targetsOf } from "./fleet-plan-hosts.ts";
import { inventoryOf } from "./profile/site.ts";
import { localShell } from "./support/local-remote.ts";

const count = 500;
const names = namesOf(count);
const drifted = "/etc/bulk/file-17.conf";
const faults: Readonly<Record<string, FakeFaults>> = {
  "node-40": { connect: "unreachable" },
  "node-80": { connect: "key-changed" },
  "node-120": { sudo: "refused" },
  "node-160": { dieInCommand: 2 },
};

const loaded = loadText(bulkProfile(), "bulk.yaml");
const profiles = resolveProfiles(documentsOf(loaded.documents, "HostProfile"), loaded.problems);
const inventory = inventoryOf(
  names.map((name, i) => ({ name, profile: "bulk", address: `10.1.${i >> 8}.${i & 255}` })),
  {},
);

test("500 hosts of 300 resources: the one that has drifted is found, and trouble stays where it is", async () => {
  expect(profiles.problems).toEqual([]);
  const gathered = (
    await localShell().exec({ argv: ["sh", "-s"], stdin: gatherScript("ANONCE00"), deadlineMs: 60_000 })
  ).stdout.replaceAll("ANONCE00", "@NONCE@");
  let wanted: readonly Resource[] = [];
  const describe: Describe = (host, facts) => {
    const compiled = compileProfile({ host, inventory, profiles, facts });
    wanted = compiled.resources;
    return compiled;
  };
  const fleet = new Map<string, FakeHost>(
    names.map((name) => [
      name,
      simulatedHost({
        resources: () => wanted,
        gathered,
        roundTripMs: 30,
        ...(name === "node-300" && { drift: { [drifted]: "by hand\n" } }),
        ...(faults[name] && { faults: faults[name] }),
      }),
    ]),
  );
  let open = 0;
  let most = 0;
  const underneath = fakeConnector(fleet);
  const connect: Connect = async (target) => {
    most = Math.max(most, ++open);
    try {
      const remote = await underneath(target);
      const close = remote.close.bind(remote);
      return Object.assign(remote, {
        close: async () => {
          open--;
          await close();
        },
      });
    } catch (error) {
      open--;
      throw error;
    }
  };
  const kept = new Map<string, Parameters<FactCache["put"]>[1]>();
  const cache: FactCache = {
    get: async (host) => kept.get(host),
    put: async (host, facts) => void kept.set(host, facts),
  };
  const results = await planFleet({ connect, targets: targetsOf(names), describe, cache, concurrency: 64 });

  expect(results.map(({ host }) => host)).toEqual(names);
  const bad = results.flatMap((one) => (one.status === "ok" ? [] : [[one.host, one.status, one.code]]));
  expect(bad).toEqual([
    ["node-40", "unreachable", "E_HOST_UNREACHABLE"],
    ["node-80", "unreachable", "E_HOST_KEY_CHANGED"],
    ["node-120", "failed", "E_HOST_SUDO"],
    ["node-160", "unknown", "E_HOST_LOST"],
  ]);
  const plans = results.flatMap((one) => (one.status === "ok" ? [one.value.plan] : []));
  expect(plans).toHaveLength(count - bad.length);
  expect(plans.every(({ entries }) => entries.length === 300)).toBe(true);
  expect(plans.flatMap((plan) => unknownsOf(plan))).toEqual([]);
  const changes = plans.flatMap((plan) => changesOf(plan).map(({ resource }) => [plan.host, resource.id]));
  expect(changes).toEqual([["node-300", `file:${drifted}`]]);
  expect(most).toBe(64);
  expect(open).toBe(0);
  // One login a host, and two commands: facts, and what is there.
  expect([...fleet.values()].every(({ connections }) => connections <= 1)).toBe(true);
  expect(fleet.get("node-1")!.requests).toHaveLength(2);
});
