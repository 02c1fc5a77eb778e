/** Who reaches the record store: the firewall and PostgreSQL's list agree. */
import { expect, test } from "vitest";
import { factsOf } from "./machines.ts";
import { compileFor, inventoryOf, siteHosts, siteSettings } from "./site.ts";

const compile = (storeClients: readonly string[] | undefined) =>
  compileFor("store", factsOf("small"), {
    inventory: inventoryOf(siteHosts, { ...siteSettings, ...(storeClients && { storeClients }) }),
  });

/** The addresses that each of the two lets in. */
async function letIn(storeClients: readonly string[] | undefined) {
  const { resources } = await compile(storeClients);
  const rules = resources.find((one) => one.kind === "nft-table")?.rules ?? "";
  const list = resources.find(({ id }) => id.endsWith("pg_hba.conf"));
  const hba = list?.kind === "file" ? (list.content ?? "") : "";
  const network = [...hba.matchAll(/^host +\S+ all (\S+)\/(\d+) scram-sha-256$/gm)].map(([, one, bits]) =>
    bits === (one!.includes(":") ? "128" : "32") ? one! : `${one}/${bits}`,
  );
  const open = rules.split("\n").filter((line) => line.includes('"postgresql"'));
  const wall = open.flatMap((line) =>
    [...line.matchAll(/saddr (?:\{ ([^}]+) \}|(\S+))/g)].flatMap(([, many, one]) =>
      (many ?? one!).trim().split(", "),
    ),
  );
  const loopback = ["127.0.0.1", "::1"];
  return { hba: network.filter((one) => !loopback.includes(one)).sort(), wall: wall.sort() };
}

test("without the setting it is the hosts alone", async () => {
  const { hba, wall } = await letIn(undefined);
  expect(wall).toEqual(hba);
  expect(hba).toEqual(
    siteHosts
      .filter(({ profile }) => profile)
      .map(({ address }) => address)
      .sort(),
  );
});

test("machines of people come on top, each once, in both", async () => {
  const before = await letIn(undefined);
  const { hba, wall } = await letIn(["10.9.0.5", "fd00::5", before.hba[0]!]);
  expect(wall).toEqual(hba);
  expect(hba).toEqual([...before.hba, "10.9.0.5", "fd00::5"].sort());
});

test("with a host whose address is a name, it is not known who gets in: neither list is written", async () => {
  const hosts = siteHosts.map((one) => (one.name === "exec-1" ? { ...one, address: "exec-1.example" } : one));
  const inventory = inventoryOf(hosts, { ...siteSettings, storeClients: ["10.9.0.5"] });
  const { resources } = await compileFor("store", factsOf("small"), { inventory });
  const both = resources.filter(({ id, kind }) => kind === "nft-table" || id.endsWith("pg_hba.conf"));
  expect(both.map(({ unavailable }) => unavailable)).toEqual(
    Array(2).fill(expect.stringContaining("exec-1.example, which is a name")),
  );
});

test.each(["desk-5", "10.9.0.0/24", "10.9.0.5; reject", "fe80::5%eth0", ""])(
  "%j is no address: an error, and nobody is let in by it",
  async (odd) => {
    const { notes } = await compile([odd]);
    expect(notes.filter(({ severity }) => severity === "error")).toEqual([
      {
        severity: "error",
        text: `storeClients has ${JSON.stringify(odd)} in it, which is not an address such as 10.0.0.5`,
        at: { file: "site.yaml", line: 4, column: expect.any(Number) },
      },
    ]);
    expect(await letIn([odd])).toEqual(await letIn(undefined));
  },
);
