/** The scheduler that leads, and whoever holds the virtual address, come last; who does not say is taken for one. */
import { expect, test } from "vitest";
import { holdersLast } from "../../../src/cli/provision/holders-last.ts";
import type { ExecRequest, Remote } from "../../../src/remote/remote.ts";
import type { InventoryHost } from "../../../src/spec/inventory-definition.ts";

interface Said {
  /** Exit code of the question whether it leads. */
  readonly leads?: number;
  readonly addresses?: string;
  readonly away?: boolean;
}

const host = (name: string, settings: Readonly<Record<string, string>> = { virtualIp: "10.0.0.100/24" }) =>
  ({
    name,
    failureDomain: `rack-${name}`,
    settings,
    target: { host: name, address: name },
  }) as unknown as InventoryHost;

/** @returns what is last of these hosts, and what was asked */
async function ask(hosts: Readonly<Record<string, Said>>, settings?: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const connect = async ({ host: name }: { readonly host: string }) => {
    const said = hosts[name]!;
    if (said.away) throw new Error("no route to host");
    return {
      host: name,
      async exec({ argv }: ExecRequest) {
        asked.push(`${name} ${argv[0]}`);
        const isAddress = argv[0] === "ip";
        if (isAddress) expect(argv.at(-1)).toBe("10.0.0.100");
        return {
          exitCode: isAddress ? 0 : (said.leads ?? 1),
          stdout: isAddress ? (said.addresses ?? "") : "",
          stderr: "",
        };
      },
      async close() {},
    } as unknown as Remote;
  };
  const placed = await holdersLast(
    Object.keys(hosts).map((name) => host(name, settings)),
    {
      reach: { connect } as never,
      schedulerOf: ({ name }) => (name.startsWith("s") ? { address: name, port: 7070 } : undefined),
    },
  );
  return { last: placed.filter((one) => one.last).map((one) => one.name), asked, placed };
}

const held = "2: eth0    inet 10.0.0.100/24 scope global secondary eth0\n";

test.each<[string, Readonly<Record<string, Said>>, readonly string[]]>([
  ["the leader", { s1: { leads: 0 }, s2: {} }, ["s1"]],
  ["the holder of the address, who does not lead", { s1: {}, s2: { addresses: held } }, ["s2"]],
  [
    "both, when one leads and the other has the address",
    { s1: { leads: 0 }, s2: { addresses: held } },
    ["s1", "s2"],
  ],
  ["one whose scheduler does not say", { s1: { leads: 3 }, s2: {} }, ["s1"]],
  ["one that cannot be reached", { s1: {}, s2: { away: true } }, ["s2"]],
  ["nobody", { s1: {}, s2: {} }, []],
])("last comes %s", async (_, hosts, last) => {
  expect((await ask(hosts)).last).toEqual(last);
});

test("hosts without a scheduler are not asked, and schedulers never go together", async () => {
  const { asked, placed } = await ask({ e1: {}, s1: {}, s2: {} });
  expect(asked.filter((one) => one.startsWith("e1"))).toEqual([]);
  expect(placed.map(({ name, apart }) => [name, apart])).toEqual([
    ["e1", undefined],
    ["s1", "scheduler"],
    ["s2", "scheduler"],
  ]);
});

test("without a virtual address nobody is asked for one", async () => {
  const { asked, last } = await ask({ s1: { addresses: held } }, {});
  expect(asked).toEqual(["s1 perl"]);
  expect(last).toEqual([]);
});
