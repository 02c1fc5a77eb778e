/** Which hosts a lab has when nobody says: a whole small cluster. */
import { EscapementError } from "../../base/errors.ts";
import { checkLabName } from "./lab-place.ts";
import type { LabHost } from "./lab-state.ts";

export interface WantedHost {
  readonly name: string;
  readonly profile: string;
  /** Default: container. */
  readonly machine?: LabHost["machine"];
}

/** The first address of a host; those from 200 on are the lab's own. */
const firstAddress = 11;
const mostHosts = 100;

const defaults: readonly WantedHost[] = [
  { name: "sched-1", profile: "scheduler" },
  { name: "sched-2", profile: "scheduler" },
  { name: "exec-1", profile: "executor-cpu" },
  { name: "exec-2", profile: "executor-io" },
  { name: "store-1", profile: "record-store" },
  { name: "watch-1", profile: "watchman" },
];

/** By what a name begins with; anything else is an executor. */
const profiles: readonly (readonly [string, string])[] = [
  ["sched", "scheduler"],
  ["store", "record-store"],
  ["watch", "watchman"],
  ["exec", "executor-cpu"],
];

/** `count` hosts: the six of a whole cluster first, then further executors. */
export function countedHosts(count: number): WantedHost[] {
  return Array.from({ length: count }, (_, i) => {
    const known = defaults[i];
    return known ?? { name: `exec-${i - 3}`, profile: "executor-cpu" };
  });
}

export function namedHosts(names: readonly string[]): WantedHost[] {
  return names.map((name) => ({
    name,
    profile:
      defaults.find((host) => host.name === name)?.profile ??
      profiles.find(([start]) => name.startsWith(start))?.[1] ??
      "executor-cpu",
  }));
}

/** Gives every host its address and its cable. @throws E_BAD_VALUE for a wrong name, or one given twice */
export function placeHosts(wanted: readonly WantedHost[], network: string): LabHost[] {
  const seen = new Set<string>();
  if (wanted.length < 1 || wanted.length > mostHosts)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--hosts",
      value: String(wanted.length),
      expected: `1 to ${mostHosts} hosts`,
      hint: "write a number, or names",
    });
  return wanted.map((host, i) => {
    checkLabName(host.name, "--hosts");
    if (seen.has(host.name) || host.name === "controller" || host.name === "time")
      throw new EscapementError("E_BAD_VALUE", {
        option: "--hosts",
        value: host.name,
        expected: "a name of its own",
        hint: "every host needs another name, and controller and time are taken",
      });
    seen.add(host.name);
    return {
      ...host,
      machine: host.machine ?? "container",
      address: `${network}.${firstAddress + i}`,
      failureDomain: `rack-${(i % 2) + 1}`,
      port: `p${i + 1}`,
    };
  });
}
