/** What the time daemon of a host has said, as processes write it into their rows. */
import { expect, test } from "vitest";
import { type TimeSource, unknownSource } from "../../src/hardware/own-time-source.ts";
import type { ClusterLook } from "../../src/store/ui/cluster-look.ts";
import { clocksOf, hostRows } from "../../src/tui/data/host-rows.ts";
import { cluster, openUi } from "../support/ui-state.ts";

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

const watchman = (passMsAgo: number, stopped = false) => ({
  node: stopped ? "w-stopped" : `w-${passMsAgo}`,
  host: "watch-1",
  version: "0.1.0",
  passMsAgo,
  stopped,
});

test.each([
  ["watches", watchman(9_000), "✓ watches"],
  ["has died", watchman(130_000), "✗ silent"],
  ["was stopped a moment ago", watchman(9_000, true), "! stopped"],
  ["was stopped long ago", watchman(900_000, true), "! stopped"],
] as const)("a watchman that %s", (_, one, text) => {
  const [row] = hostRows({ ...cluster, executors: [], watchmen: [one] }, undefined);
  expect(`${row!.sign} ${row!.health}`).toBe(text);
});

test("of several watchmen the overview shows one that watches, and how many do not", () => {
  const watchmen = [watchman(3_000, true), watchman(900_000), watchman(8_000)];
  const text = () =>
    openUi({ columns: 132 })
      .give("cluster", { ...cluster, watchmen })
      .text();
  expect(text()).toContain("✓ w-8000  looked 8s ago, 2 not");
  watchmen.pop();
  expect(text()).toContain("! w-stopped stopped  looked 3s ago, 1 not");
});

test("the worst clock comes first, and one that nobody has measured last", () => {
  const offsets = [null, 0.2, -30, 5];
  const executors = offsets.map((offsetMs, i) => ({ ...cluster.executors[0]!, node: `e-${i}`, offsetMs }));
  expect(clocksOf({ ...cluster, executors }).map(({ offsetMs }) => offsetMs)).toEqual([-30, 5, 0.2, null]);
  const text = openUi({ columns: 132 })
    .give("cluster", { ...cluster, executors })
    .text();
  expect(text).toContain("worst -30 ms  e-2, ? 1 not measured");
});
