/** Policies that must be the same on every host: how a leap second is taken, and the time zone. */
import { type Fact, factValue, mapFact } from "../../base/fact.ts";
import type { HostFacts } from "../host-facts.ts";
import { utcNames } from "./time.ts";
import { bad, good, unjudged, type Verdict } from "./verdict.ts";

export interface NamedHost {
  readonly host: string;
  readonly facts: HostFacts;
}

export function acrossHosts(hosts: readonly NamedHost[]): Verdict[] {
  if (hosts.length < 2) return [];
  return [
    same(
      "leap-second-policy-differs",
      hosts,
      (facts) => mapFact(facts.clock.ntp.configuration, (read) => read.leapSecondMode, ""),
      "hosts take a leap second in different ways, so their clocks are up to a second apart around it",
      "write the same leapsecmode into chrony.conf of every host",
    ),
    same(
      "time-zone-differs",
      hosts,
      (facts) => mapFact(facts.clock.timeZone, (zone) => (utcNames.includes(zone) ? "UTC" : zone), ""),
      "hosts have different time zones, so the same log line means different instants",
      "timedatectl set-timezone UTC on every host",
    ),
  ];
}

function same(
  id: string,
  hosts: readonly NamedHost[],
  read: (facts: HostFacts) => Fact<string>,
  reason: string,
  action: string,
): Verdict {
  const answers = new Map<string, string[]>();
  const silent: string[] = [];
  for (const { host, facts } of hosts) {
    const value = factValue(read(facts));
    if (value === undefined) silent.push(host);
    else answers.set(value, [...(answers.get(value) ?? []), host]);
  }
  const evidence = [...answers].map(([value, names]) => `${value}: ${names.join(", ")}`).join("; ");
  if (answers.size > 1) return bad(id, "warning", { reason, action, evidence });
  if (silent.length > 0) return unjudged(id, `not known of ${silent.join(", ")}`);
  return good(id, evidence);
}
