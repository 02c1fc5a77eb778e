/** Addresses, cards and time sources: what the site has to say, and what happens where it does not. */
import { expect, test } from "vitest";
import type { HostFacts } from "../../../src/hardware/host-facts.ts";
import { factsOf } from "./machines.ts";
import { compileFor, inventoryOf, type SiteHost, siteHosts, siteSettings } from "./site.ts";

const change = (name: string, to: Partial<SiteHost>): readonly SiteHost[] =>
  siteHosts.map((one) => (one.name === name ? { ...one, ...to } : one));

/** What cannot be written without a setting is unknown, with the name of the setting. */
test.each([
  ["timeSources", "file:/etc/chrony/chrony.conf", /where the time comes from; the setting timeSources/],
  ["virtualIp", "file:/etc/keepalived/keepalived.conf", /the setting virtualIp must be an address/],
])("without %s", async (setting, id, expected) => {
  const inventory = inventoryOf(siteHosts, without(setting));
  const compiled = await compileFor("sched-a", factsOf("small"), { inventory });
  expect(compiled.resources.find((one) => one.id === id)?.unavailable).toMatch(expected);
});

test.each([
  ["virtualRouterId: 0", { ...siteSettings, virtualRouterId: 0 }],
  ["virtualRouterId: 256", { ...siteSettings, virtualRouterId: 256 }],
  ["an address of IPv6 and no id", { ...without("virtualRouterId"), virtualIp: "fd00::100/64" }],
])("%s leaves the address unknown", async (_, settings) => {
  const inventory = inventoryOf(siteHosts, settings);
  const compiled = await compileFor("sched-a", factsOf("small"), { inventory });
  expect(compiled.resources.find((one) => one.id === "unit:keepalived.service")?.unavailable).toMatch(
    /^waits for file:.*the setting virtualRouterId must be/,
  );
});

test("without an id of the router, the address gives it", async () => {
  const inventory = inventoryOf(siteHosts, { ...without("virtualRouterId"), virtualIp: "10.0.0.77" });
  const compiled = await compileFor("sched-a", factsOf("small"), { inventory });
  expect(compiled.resources.find(({ id }) => id === "file:/etc/keepalived/keepalived.conf")).toMatchObject({
    content: expect.stringMatching(/virtual_router_id 77\n[\s\S]* {8}10\.0\.0\.77 dev eno1\n/),
  });
});

test("two cards with a cable are a choice that the inventory makes", async () => {
  const compiled = await compileFor("sched-a", factsOf("twoSockets"));
  const file = compiled.resources.find(({ id }) => id === "file:/etc/keepalived/keepalived.conf");
  expect(file?.unavailable).toBe("eno1, eno2 has a carrier; the setting vrrpInterface can say it");
  const inventory = inventoryOf(siteHosts, { ...siteSettings, vrrpInterface: "bond0" });
  const told = await compileFor("sched-a", factsOf("twoSockets"), { inventory });
  expect(told.resources.find(({ id }) => id === "file:/etc/keepalived/keepalived.conf")).toMatchObject({
    content: expect.stringContaining("interface bond0\n"),
  });
});

test("a real card comes before a bridge, and a bond before both", async () => {
  const facts = factsOf("twoSockets");
  const nics = "known" in facts.nics ? facts.nics.known : [];
  const oneReal = nics.map((one) => ({ ...one, isPhysical: { known: one.name === "eno2" } }));
  const config = async (with_: Partial<HostFacts>) =>
    (await compileFor("sched-a", { ...facts, ...with_ })).resources.find(
      ({ id }) => id === "file:/etc/keepalived/keepalived.conf",
    );
  expect(await config({ nics: { known: oneReal } })).toMatchObject({
    content: expect.stringContaining("interface eno2\n"),
  });
  const bond = { name: "bond0", mode: facts.hostName, legs: { known: [] } };
  expect(await config({ bonds: { known: [bond] } })).toMatchObject({
    content: expect.stringContaining("interface bond0\n"),
  });
  expect((await config({ nics: { unknown: "cut" } }))?.unavailable).toMatch(/unknown \(cut\)/);
});

test("a host without a number for an address", async () => {
  const inventory = inventoryOf(change("sched-b", { address: "sched-b.example" }));
  const { resources } = await compileFor("sched-a", factsOf("small"), { inventory });
  for (const id of ["nft-table:inet:escapement", "file:/etc/keepalived/keepalived.conf"])
    expect(resources.find((one) => one.id === id)?.unavailable).toMatch(
      /sched-b\.example, which is a name; its setting clusterAddress/,
    );
});

test("an address that only one host understands", async () => {
  const inventory = inventoryOf(change("sched-b", { address: "fe80::12%eth0" }));
  const { resources } = await compileFor("sched-a", factsOf("small"), { inventory });
  for (const id of ["nft-table:inet:escapement", "file:/etc/keepalived/keepalived.conf"])
    expect(resources.find((one) => one.id === id)?.unavailable).toMatch(
      /fe80::12%eth0, which holds on one network card.*setting clusterAddress/,
    );
});

function without(setting: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(siteSettings).filter(([name]) => name !== setting));
}
