/** Power supplies: present, fed, in order. */

import { factValue, seenOf, whyUnknown } from "../../base/fact.ts";
import { counted } from "../format.ts";
import type { MachineFacts, SupplyFacts } from "./machine-facts.ts";
import { fail, pass, unknown, type Verdict } from "./verdict.ts";

export function judgePowerSupplies({ supplies }: MachineFacts["power"], atLeast: number): Verdict {
  const seen = seenOf(supplies);
  const bad = seen.filter(isBad);
  if (bad.length > 0) return fail(bad.map((one) => `${one.name}: ${troubleOf(one)}`).join("; "));
  const good = seen.filter(
    ({ isPresent, isHealthy }) => factValue(isPresent) === true && factValue(isHealthy) === true,
  );
  if (good.length >= atLeast)
    return pass(`${counted(good.length, "supply", "supplies")} present, none in trouble`);
  const present = seen.filter(({ isPresent }) => factValue(isPresent) === true).length;
  const maybe = seen.filter(({ isPresent }) => factValue(isPresent) !== false).length;
  if ("known" in supplies && seen.length > 0 && maybe < atLeast)
    return fail(`${counted(present, "supply", "supplies")} present`);
  return unknown(
    `${counted(good.length, "supply", "supplies")} known to be in order; ${whyUnknown(supplies) || "the others do not tell"}`,
  );
}

function isBad({ isPresent, hasInput, isHealthy }: SupplyFacts): boolean {
  return factValue(isPresent) !== false && (factValue(hasInput) === false || factValue(isHealthy) === false);
}

function troubleOf({ hasInput }: SupplyFacts): string {
  return factValue(hasInput) === false ? "no input" : "failed or failing";
}
