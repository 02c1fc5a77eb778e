/** Ports and bonds. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { BondFacts, HostFacts } from "../host-facts.ts";
import { bad, good, unjudged, type Verdict } from "./verdict.ts";

/** A port of a server below this, in Mbit/s, usually has a bad cable or a wrong setting at the other end. */
export const leastSpeedMbps = 1_000;

export function networkFindings(host: HostFacts): Verdict[] {
  return [...bonds(host), ...ports(host)];
}

function bonds(host: HostFacts): Verdict[] {
  const id = "bond-degraded";
  const verdicts = seenOf(host.bonds).map((bond) => judge(bond, id));
  const reason = reasonOf(host.bonds);
  return reason === undefined ? verdicts : [...verdicts, unjudged(id, reason)];
}

function judge(bond: BondFacts, id: string): Verdict {
  const legs = seenOf(bond.legs);
  const down = legs.filter((leg) => factValue(leg.isUp) === false);
  const action = "check the cable and switch port of the leg that is down, or add the second leg";
  if (down.length > 0)
    return bad(
      id,
      "warning",
      {
        reason: "the bond runs on fewer legs than it has",
        action,
        evidence: `down: ${down.map((leg) => leg.name).join(", ")}`,
      },
      bond.name,
    );
  const list = factValue(bond.legs);
  if (list === undefined || list.some((leg) => "unknown" in leg.isUp))
    return unjudged(id, reasonOf(bond.legs) ?? "a leg shows no state", bond.name);
  if (list.length < 2)
    return bad(
      id,
      "warning",
      {
        reason: "the bond has a single leg and protects from nothing",
        action,
        evidence: `${list.length} leg(s)`,
      },
      bond.name,
    );
  const speeds = new Set(list.map((leg) => factValue(leg.speedMbps)));
  if (speeds.size > 1)
    return bad(
      id,
      "info",
      {
        reason: "the legs of the bond have different speeds",
        action: "check the negotiated speed at both ends",
        evidence: list.map((leg) => `${leg.name} ${factValue(leg.speedMbps) ?? "?"} Mbit/s`).join(", "),
      },
      bond.name,
    );
  return good(id, `${list.length} legs up`, bond.name);
}

function ports(host: HostFacts): Verdict[] {
  const id = "port-slow";
  const verdicts = seenOf(host.nics)
    .filter((nic) => factValue(nic.isPhysical) === true && factValue(nic.hasCarrier) === true)
    .map((nic): Verdict => {
      const speed = factValue(nic.speedMbps);
      if (speed === undefined) return unjudged(id, reasonOf(nic.speedMbps) ?? "", nic.name);
      if (speed >= leastSpeedMbps) return good(id, `${speed} Mbit/s`, nic.name);
      return bad(
        id,
        "warning",
        {
          reason: "the port runs slower than any server port should",
          action: "replace the cable and look at the switch port's settings",
          evidence: `${speed} Mbit/s`,
        },
        nic.name,
      );
    });
  const reason = reasonOf(host.nics);
  return reason === undefined ? verdicts : [...verdicts, unjudged(id, reason)];
}
