/** /proc/net/bonding/*: one text a bond, several one after the other. */
import { fromValue, type ListFact, listFact } from "../../base/fact.ts";
import type { BondFacts, BondLeg } from "../host-facts.ts";
import { keyAndValue, linesOf, mayBeCut, type Output } from "../output.ts";
import { parseCount } from "../quantity.ts";

/** A text begins with a line `bond NAME` that the gather script writes, or with the driver's own first line. */
export function parseBonding(output: Output): ListFact<BondFacts> {
  const bonds: { name: string; mode: string | undefined; legs: Map<string, string>[] }[] = [];
  let named: string | undefined;
  let leg: Map<string, string> | undefined;
  for (const line of linesOf(output)) {
    const name = /^bond (\S+)$/.exec(line)?.[1];
    if (name) named = name;
    if (/^Ethernet Channel Bonding Driver:/.test(line)) {
      bonds.push({ name: named ?? `bond ${bonds.length + 1}`, mode: undefined, legs: [] });
      named = undefined;
      leg = undefined;
    }
    const bond = bonds.at(-1);
    const pair = keyAndValue(line, ":");
    if (!bond || !pair) continue;
    const [key, value] = pair;
    if (key === "Bonding Mode") bond.mode ??= value;
    if (key === "Slave Interface") {
      leg = new Map([["name", value]]);
      bond.legs.push(leg);
    } else if (leg && !leg.has(key)) leg.set(key, value);
  }
  return listFact(
    bonds.map(({ name, mode, legs }) => ({
      name,
      mode: fromValue(mode || undefined, "the bond shows no mode"),
      legs: listFact(legs.map(toLeg), output.isWhole, mayBeCut),
    })),
    output.isWhole,
    mayBeCut,
  );
}

function toLeg(fields: ReadonlyMap<string, string>): BondLeg {
  const status = fields.get("MII Status");
  return {
    name: fields.get("name")!,
    isUp: fromValue(
      status === "up" ? true : status === undefined || status === "" ? undefined : false,
      "the leg shows no state",
    ),
    speedMbps: fromValue(
      parseCount(/^(\d+) Mbps$/.exec(fields.get("Speed") ?? "")?.[1]),
      "the leg shows no speed",
    ),
  };
}
