/** What the time daemon of a host has said, as processes write it into their rows. */
import { expect, test } from "vitest";
import { type TimeSource, unknownSource } from "../../src/hardware/own-time-source.ts";
import type { ClusterLook } from "../../src/store/ui/cluster-look.ts";
import { hostRows } from "../../src/tui/data/host-rows.ts";

const known: TimeSource = {
  isSynchronized: true,
  stratum: 3,
  leap: "Normal",
  leapPolicy: null,
  offsetSeconds: 0.0001,
  sources: 3,
  reachable: 2,
  falsetickers: [],
  why: null,
  wasKnown: true,
};

function timeOf(timeSource: TimeSource | null): string {
  const scheduler = { node: "s-1", host: "h", role: "standby", offsetMs: 0, holdsVirtualAddress: null };
  const look = { schedulers: [{ ...scheduler, timeSource }], executors: [], watchmen: [] };
  return hostRows(look as unknown as ClusterLook, undefined)[0]!.time;
}

test.each<[string, TimeSource | null, string]>([
  ["in sync", known, "chrony in sync, 2 of 3 sources"],
  ["not in sync", { ...known, isSynchronized: false, reachable: 0 }, "chrony not in sync, 0 of 3 sources"],
  ["silent", unknownSource("chronyd does not answer", true), "? chronyd does not answer"],
  ["without its sources", { ...known, sources: null, reachable: null }, "chrony in sync"],
  ["not asked", null, ""],
])("a time service that is %s", (_, source, text) => {
  expect(timeOf(source)).toBe(text);
});
