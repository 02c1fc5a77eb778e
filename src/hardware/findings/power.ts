/** Power supplies. What a table leaves out is not absent; what a model name promises is not redundancy. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { HostFacts } from "../host-facts.ts";
import { bad, good, isVirtual, unjudged, type Verdict } from "./verdict.ts";

export function powerFindings(host: HostFacts): Verdict[] {
  const { power } = host;
  if (isVirtual(host))
    return [unjudged("single-power-supply", "a virtual machine: only the host below knows its supplies")];
  return [single(power), ...feeds(power), ...health(power), redundancy(power)];
}

type Power = HostFacts["power"];

function single(power: Power): Verdict {
  const id = "single-power-supply";
  const supplies = seenOf(power.supplies);
  const present = supplies.filter((one) => factValue(one.isPresent) === true).length;
  if (present >= 2) return good(id, `${present} supplies present`);
  const reason = reasonOf(power.supplies);
  if (reason !== undefined) return unjudged(id, reason);
  if (power.source !== "management controller")
    return unjudged(id, `the firmware's table lists ${present} supply; it often leaves supplies out`);
  const silent = supplies.find((one) => "unknown" in one.isPresent);
  if (silent) return unjudged(id, `${silent.name}: ${reasonOf(silent.isPresent)}`);
  return bad(id, "warning", {
    reason: "the host has a single power supply, so a lost feed or supply stops it",
    action: "fit a second supply and connect it to another feed",
    evidence: `${present} of ${supplies.length} slots filled`,
  });
}

function feeds(power: Power): Verdict[] {
  const id = "power-feed-lost";
  const supplies = seenOf(power.supplies).filter((one) => factValue(one.isPresent) !== false);
  const lost = supplies.filter((one) => factValue(one.hasInput) === false);
  if (lost.length > 0)
    return [
      bad(id, "critical", {
        reason: "a power supply gets no power, so the host hangs on the other feed alone",
        action: "check the cable, the distribution unit and the fuse of this feed",
        evidence: lost.map((one) => one.name).join(", "),
      }),
    ];
  const reason = reasonOf(power.supplies) ?? supplies.map((one) => reasonOf(one.hasInput)).find(Boolean);
  if (reason !== undefined) return [unjudged(id, reason)];
  return [good(id, `${supplies.length} supplies have power`)];
}

function health(power: Power): Verdict[] {
  const id = "power-supply-failed";
  const supplies = seenOf(power.supplies).filter((one) => factValue(one.isPresent) !== false);
  const failed = supplies.filter(
    (one) => factValue(one.isHealthy) === false && factValue(one.hasInput) !== false,
  );
  if (failed.length > 0)
    return [
      bad(id, "critical", {
        reason: "a power supply has failed or says that it soon will",
        action: "replace the supply",
        evidence: failed.map((one) => one.name).join(", "),
      }),
    ];
  const reason = reasonOf(power.supplies) ?? supplies.map((one) => reasonOf(one.isHealthy)).find(Boolean);
  if (reason !== undefined) return [unjudged(id, reason)];
  return [good(id, `${supplies.length} supplies healthy`)];
}

/** The controller's own word; without it, whether one supply less still carries the peak. */
function redundancy(power: Power): Verdict {
  const id = "power-not-redundant";
  const action = "fit or repair supplies until one may fail";
  const stated = factValue(power.redundancyStated);
  if (
    stated !== undefined &&
    /lost|degraded|non-redundant|not redundant|insufficient|critical|warning/i.test(stated)
  )
    return bad(id, "critical", {
      reason: "the management controller says that the supplies are not redundant",
      action,
      evidence: stated,
    });
  const supplies = factValue(power.supplies)?.filter((one) => factValue(one.isPresent) === true);
  if (supplies === undefined) return unjudged(id, reasonOf(power.supplies) ?? "");
  if (supplies.length < 2) return unjudged(id, `${supplies.length} supply is listed`);
  const capacities = supplies.map((one) => factValue(one.capacityWatts) ?? 0);
  const rest = capacities.reduce((sum, watts) => sum + watts, 0) - Math.max(...capacities);
  const peak = factValue(power.peakWatts);
  if (peak !== undefined && !capacities.includes(0) && rest < peak)
    return bad(id, "warning", {
      reason: "with one supply less the rest cannot carry the peak load",
      action: "fit larger supplies or cap the load",
      evidence: `${rest} W without the largest, peak ${peak} W`,
    });
  const works = supplies.every(
    (one) => factValue(one.hasInput) === true && factValue(one.isHealthy) === true,
  );
  if (!works) return unjudged(id, "not every supply is known to have power and health");
  if (stated !== undefined && /^(fully redundant|redundant|n\+\w+|sharing|failover)\b/i.test(stated))
    return good(id, stated);
  if (peak === undefined || capacities.includes(0))
    return unjudged(id, reasonOf(power.redundancyStated) ?? "capacity and peak load are not both known");
  return good(id, `${rest} W without the largest, peak ${peak} W`);
}
