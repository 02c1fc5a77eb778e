/** What chrony on this host says of itself: synchronised, from which sources, leap seconds. Asked, never believed alone. */
import { factValue } from "../../base/fact.ts";
import type { Output } from "../../hardware/output.ts";
import { type RunCommand, runCommand } from "../../hardware/own-time-source.ts";
import { parseChronycActivity, parseChronycSources } from "../../hardware/parse/chronyc-sources.ts";
import { parseChronycTracking } from "../../hardware/parse/chronyc-tracking.ts";
import type { ClockSourceState } from "../picture.ts";

/** Fewer sources than this cannot outvote a wrong one. */
const enoughSources = 3;

/** @returns null where there is no chrony to ask */
export async function readTimeService(
  node: string,
  run: RunCommand = runCommand,
): Promise<ClockSourceState | null> {
  const tracking = await run("chronyc", ["-n", "-c", "tracking"]);
  if (!tracking) return null;
  const facts = parseChronycTracking(tracking);
  if (factValue(facts.running) === false) {
    return { node, problems: ["chronyd does not answer"], details: {} };
  }
  const sources = parseChronycSources((await run("chronyc", ["-n", "-c", "sources"])) ?? nothing);
  const activity = parseChronycActivity((await run("chronyc", ["-n", "-c", "activity"])) ?? nothing);
  const list = "known" in sources ? sources.known : [];
  const reachable = list.filter(({ reach, state }) => reach > 0 && state !== "unreachable");
  const problems: string[] = [];
  if (factValue(facts.isSynchronized) === false) problems.push("the clock is not synchronised");
  if ("known" in sources && reachable.length === 0) problems.push("no source can be reached");
  else if ("known" in sources && reachable.length < enoughSources)
    problems.push(
      `${reachable.length} source(s) can be reached, ${enoughSources} are needed to outvote a wrong one`,
    );
  const wrong = list.filter(({ state }) => state === "falseticker");
  if (wrong.length > 0)
    problems.push(`${wrong.map(({ name }) => name).join(", ")}: the others say it is wrong`);
  const unresolved = factValue(activity)?.unresolved ?? 0;
  if (unresolved > 0) problems.push(`the names of ${unresolved} source(s) cannot be resolved`);
  return {
    node,
    problems,
    details: {
      stratum: factValue(facts.stratum),
      leap: factValue(facts.leap),
      offsetSeconds: factValue(facts.offsetSeconds),
      rootDispersionSeconds: factValue(facts.rootDispersionSeconds),
      reachable: reachable.length,
      sources: list.length,
    },
  };
}

const nothing: Output = { text: "", isWhole: false };
