/** Hosts as probes: roles from their profiles, containers by what they say themselves, and trouble that throws. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectHosts } from "../../../src/cli/checklist/hosts.ts";
import { FakeHost, type FakeHostOptions, fakeConnector } from "../../../src/remote/fake-remote.ts";
import type { InventoryDefinition } from "../../../src/spec/inventory-definition.ts";
import { loadInventory } from "../../../src/spec/load-inventory.ts";

let folder: string;
let inventory: InventoryDefinition;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "checklist-hosts-"));
  const host = (name: string, profile: string | undefined) =>
    `    - { name: ${name}, address: 192.0.2.1, ${profile ? `profile: ${profile}, ` : ""}failureDomain: rack-${name} }\n`;
  writeFileSync(
    join(folder, "inventory.yaml"),
    `apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: site }\nspec:\n  hosts:\n${host("db", "record-store")}${host("run", "executor-io")}${host("eye", "watchman")}${host("jump", undefined)}`,
  );
  const { inventory: found, problems } = await loadInventory(join(folder, "inventory.yaml"));
  expect(problems).toEqual([]);
  inventory = found!;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @param container what `systemd-detect-virt --container` says */
function fleet(container: string, faults: Record<string, FakeHostOptions["faults"]> = {}) {
  const answer: NonNullable<FakeHostOptions["answer"]> = ({ argv }) =>
    argv[0] === "systemd-detect-virt"
      ? { stdout: `${container}\n`, exitCode: container === "none" ? 1 : 0 }
      : undefined;
  const hosts = new Map(
    inventory.hosts.map(({ name }) => {
      const own = faults[name];
      return [name, new FakeHost({ answer, ...(own && { faults: own }) })];
    }),
  );
  return { hosts, connect: fakeConnector(hosts) };
}

test("every host is a probe with the roles of its profile, one without a profile as well; commands run as root", async () => {
  const { connect, hosts } = fleet("none");
  const { probes, tier, reached, close } = await connectHosts(inventory, [], connect);
  const found = new Map(
    probes.map(({ name, roles, failureDomain }) => [name, [...roles, failureDomain].join()]),
  );
  expect(Object.fromEntries(found)).toEqual({
    db: "record-store,rack-db",
    run: "executor,rack-run",
    eye: "watchman,rack-eye",
    jump: "rack-jump",
  });
  expect(tier).toBe("machines");
  expect([...reached].sort()).toEqual(["db", "eye", "jump", "run"]);
  const db = probes.find(({ name }) => name === "db")!;
  expect((await db.exec(["id", "-u"], { deadlineMs: 10_000 })).stdout).toBe("0\n");
  expect((await db.exec(["false"], { deadlineMs: 10_000 })).exitCode).toBe(1);
  const dialogue = (piece: string) => (piece === "" ? "heard" : null);
  expect((await db.exec(["cat"], { deadlineMs: 10_000, dialogue })).stdout).toBe("heard");
  await close();
  expect(hosts.get("jump")!.connections).toBe(1);
});

test("containers are of the tier of hosts, whatever the inventory calls them", async () => {
  const { connect } = fleet("systemd-nspawn");
  const { probes, tier, close } = await connectHosts(inventory, [], connect);
  expect(tier).toBe("hosts");
  expect(probes.every(({ container }) => container === "systemd-nspawn")).toBe(true);
  await close();
});

test("a host that cannot be reached is a probe that throws, and does not hold up the others", async () => {
  const { connect } = fleet("none", { run: { connect: "unreachable" }, eye: { connect: "key-changed" } });
  const { probes, reached, close } = await connectHosts(inventory, [], connect);
  expect([...reached].sort()).toEqual(["db", "jump"]);
  const probe = (wanted: string) => probes.find(({ name }) => name === wanted)!;
  await expect(probe("run").exec(["true"], { deadlineMs: 1_000 })).rejects.toMatchObject({
    code: "E_HOST_UNREACHABLE",
  });
  await expect(probe("eye").exec(["true"], { deadlineMs: 1_000 })).rejects.toMatchObject({
    code: "E_HOST_KEY_CHANGED",
  });
  await close();
});

test("where items have more time, so has every look at a host", async () => {
  const { connect, hosts } = fleet("none");
  const waits: number[] = [];
  const { probes, close } = await connectHosts(
    inventory,
    [],
    async (target) => {
      const remote = await connect(target);
      return {
        ...remote,
        close: () => remote.close(),
        exec: (request) => {
          waits.push(request.deadlineMs);
          return remote.exec(request);
        },
      };
    },
    120_000,
  );
  await probes[0]!.exec(["true"], { deadlineMs: 15_000 });
  expect(hosts.size).toBe(4);
  expect(waits).toEqual([36_000, 36_000, 36_000, 36_000, 45_000]);
  await close();
});

test("without an inventory there are no probes", async () => {
  const { probes, tier } = await connectHosts(undefined, [], fleet("none").connect);
  expect({ probes, tier }).toEqual({ probes: [], tier: "machines" });
});
