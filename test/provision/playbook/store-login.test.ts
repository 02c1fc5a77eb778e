/** What a host's login in the store may do: its own part, and on the host that runs drills what a drill needs. */
import { expect, test } from "vitest";
import { registry } from "../../../src/provision/playbook/actions/index.ts";
import { HostWorld } from "../../../src/provision/playbook/host-world.ts";
import type { PlaybookHost } from "../../../src/provision/playbook/registry.ts";
import type { ExecRequest, Remote } from "../../../src/remote/remote.ts";
import type { InventoryDefinition } from "../../../src/spec/inventory-definition.ts";

const hosts: readonly PlaybookHost[] = [
  { name: "store-1", roles: ["record-store"], failureDomain: "a" },
  { name: "exec-1", roles: ["executor"], failureDomain: "a" },
  { name: "watch-1", roles: ["watchman"], failureDomain: "b" },
];

/** @returns the roles that the login of the host is given, in order */
async function granted(host: string, settings: Record<string, string>): Promise<string[]> {
  const roles: string[] = [];
  const nothing = async () => {
    throw new Error("not in this test");
  };
  const inventory = {
    name: "site",
    file: "site.yaml",
    hosts: hosts.map(({ name }) => ({ name, settings, target: { host: name, address: "10.0.0.1" } })),
  } as unknown as InventoryDefinition;
  const world = new HostWorld({
    inventory,
    hosts,
    connect: async (target) =>
      ({
        host: target.host,
        async exec({ argv }: ExecRequest) {
          if (argv.some((word) => word.includes("store grant"))) roles.push(argv.at(-1)!);
          return { exitCode: 0, signal: null, stdout: "", stderr: "", truncated: false, durationMs: 1 };
        },
        upload: nothing,
        close: async () => {},
      }) as unknown as Remote,
    profiles: { plan: nothing, apply: nothing },
    release: nothing,
    reason: "test",
    person: "tester",
  });
  const { actions } = registry;
  const action = actions.get("grant-store-login")!;
  const signal = new AbortController().signal;
  await action.run({ world, host: hosts.find(({ name }) => name === host)!, signal } as never, {});
  await world.close();
  return roles;
}

test.each([
  ["exec-1", {}, ["executor"]],
  ["exec-1", { drillPublicKey: "ssh-ed25519 AAAA" }, ["executor"]],
  ["watch-1", {}, ["watchman"]],
  ["watch-1", { drillPublicKey: "ssh-ed25519 AAAA" }, ["watchman", "executor", "drill"]],
])("%s with the settings %j acts as %j", async (host, settings, roles) => {
  expect(await granted(host, settings)).toEqual(roles);
});
