/** Each rule on a picture in which one thing is wrong, and on one in which nothing is. */
import { expect, test } from "vitest";
import { judge } from "../../src/watchman/judge.ts";
import type { Picture } from "../../src/watchman/picture.ts";
import { defaultWatchSettings, type WatchSettings } from "../../src/watchman/settings.ts";
import { at, clock, definition, execution, fire, job, minute, picture, timeSource } from "./well-picture.ts";

const settings: WatchSettings = {
  ...defaultWatchSettings,
  schedulerNodes: ["a", "b"],
  executorNodes: ["e"],
  limitsOf: () => ({ graceMs: minute, deadlineMs: 60 * minute }),
};

test("nothing is found in a picture in which nothing is wrong", () => {
  expect(judge(picture(), settings)).toEqual([]);
});

const running = (startedMs: number) => ({
  lastSuccess: { ...execution, fireTime: new Date(fire - 60 * minute), rows: 1_000 },
  sinceSuccess: [{ ...execution, status: "running" as const, endedAt: null }],
  live: [
    {
      ...execution,
      status: "running" as const,
      endedAt: null,
      startedAt: new Date(fire + startedMs),
      missedSeconds: startedMs / 1000,
      state: "open" as const,
      dueAt: new Date(fire),
      chained: false,
    },
  ],
});
const two = (change: object) => ({
  definitions: [definition, { ...definition, version: 2, effectiveFrom: at(-30 * minute), ...change }],
});
const backlog = (pending: (i: number) => number) =>
  Array.from({ length: 20 }, (_, i) => ({
    at: at((i - 19) * 31_000),
    pendingShards: pending(i),
    runningShards: 8,
    mostLateMs: 1,
  }));
const addresses = (a: boolean | null, b: boolean | null, seenMs = -1_000, heldMs = -1_000) => ({
  schedulers: picture().schedulers.map((one, i) => ({
    ...one,
    holdsVirtualAddress: i === 0 ? a : b,
    virtualAddressSeenAt: i === 0 ? at(seenMs) : at(-1_000),
  })),
  virtualAddressHeldAt: at(heldMs),
});
const disk = (share: number, reportedMs = -30_000) => ({
  ...{ host: "db", path: "/data", totalBytes: 1_000, freeBytes: share * 1_000 },
  at: at(reportedMs),
});
const cron = { kind: "cron", cron: "0 * * * *" } as const;
const says = (change: Parameters<typeof timeSource>[0]) => ({
  executors: picture().executors.map((one) => ({ ...one, timeSource: timeSource(change) })),
});
const healthy = { databaseBytes: 1_000, replicas: [], oldestXmin: null, unknown: [] };

test.each<[string, Partial<Picture>, string[], Partial<WatchSettings>?]>([
  [
    "a run that started late and will pass its deadline",
    {
      jobs: [
        job({
          ...running(4 * minute),
          baseline: { successes: 20, medianMs: 58 * minute, slowMs: 59 * minute, medianRows: null },
        }),
      ],
    },
    ["deadline-at-risk"],
  ],
  [
    "a run that will be done in time",
    {
      jobs: [
        job({
          ...running(1_000),
          baseline: { successes: 20, medianMs: 20 * minute, slowMs: 25 * minute, medianRows: null },
        }),
      ],
    },
    [],
  ],
  [
    "the same, hanging",
    { jobs: [job(running(1_000))] },
    ["missing-success"],
    { successPeriods: 1.5, limitsOf: () => ({ graceMs: 0, deadlineMs: null }) },
  ],
  [
    "a success in no time",
    { jobs: [job({ lastSuccess: { ...execution, endedAt: new Date(fire + 5_000), rows: 1_000 } })] },
    ["fast-finish"],
  ],
  ["a success with hardly a row", { jobs: [job({ lastSuccess: { ...execution, rows: 10 } })] }, ["few-rows"]],
  ["rows that nobody reported", { jobs: [job({ lastSuccess: { ...execution, rows: null } })] }, []],
  [
    "a new job that is fast",
    {
      jobs: [
        job({
          lastSuccess: { ...execution, endedAt: new Date(fire + 5_000), rows: 1 },
          baseline: { successes: 2, medianMs: 600_000, slowMs: 1, medianRows: 9_999 },
        }),
      ],
    },
    [],
  ],
  [
    "an edited schedule",
    { jobs: [job(two({ schedule: { kind: "every", everyMs: 120 * minute } }))] },
    ["schedule-edited"],
  ],
  [
    "a job whose zone nobody knows, beside one that is late: the one blinds nobody to the other",
    {
      jobs: [
        job({
          jobId: 2,
          job: "pay/mars",
          definitions: [{ ...definition, schedule: cron, timeZone: "Mars/X" }],
        }),
        job({ lastSuccess: { ...execution, fireTime: new Date(fire - 180 * minute), rows: 1_000 } }),
      ],
    },
    ["missing-success", "schedule-unreadable"],
    { limitsOf: () => ({ graceMs: minute, deadlineMs: null }) },
  ],
  ["an edit of something else", { jobs: [job(two({ timeoutMs: 1 }))] }, []],
  [
    "a changed definition",
    { tampered: [{ jobId: 1, version: 1, was: "d", is: "e" }] },
    ["definition-changed"],
  ],
  [
    "a lease that nobody holds",
    { leader: { holder: null, node: "a", epoch: 3, expiresAt: at(-2 * minute) } },
    ["no-leader"],
  ],
  ["a change of leader", { leader: { holder: null, node: "a", epoch: 3, expiresAt: at(-30_000) } }, []],
  [
    "no executor",
    { executors: picture().executors.map((one) => ({ ...one, leaseUntil: at(-2 * minute) })) },
    ["no-executor", "executor-silent"],
  ],
  [
    "no executor but one that takes drills alone",
    {
      executors: [
        ...picture().executors.map((one) => ({ ...one, leaseUntil: at(-2 * minute) })),
        { ...picture().executors[0]!, node: "drills", controlOnly: true },
      ],
    },
    ["no-executor", "executor-silent"],
  ],
  [
    "an executor that was stopped, and another one",
    {
      executors: [
        ...picture().executors,
        { ...picture().executors[0]!, node: "f", state: "stopped", leaseUntil: at(-minute * 9) },
      ],
    },
    [],
  ],
  [
    "a silent standby",
    {
      schedulers: picture().schedulers.map((one) =>
        one.node === "b" ? { ...one, lastSeen: at(-5 * minute) } : one,
      ),
    },
    ["scheduler-silent"],
  ],
  [
    "other time-zone data",
    {
      schedulers: picture().schedulers.map((one) =>
        one.node === "b" ? { ...one, timeZoneData: "1999z" } : one,
      ),
    },
    ["time-zone-mismatch"],
  ],
  ["a host that is off", { clocks: [clock("a", 300), clock("b", 0)] }, ["clock-offset"]],
  ["a host that may be off", { clocks: [clock("a", 300, 250), clock("b", 0)] }, []],
  ["two schedulers apart", { clocks: [clock("a", 90), clock("b", -90)] }, ["clock-offset"]],
  [
    "the database off all hosts",
    { clocks: [clock("a", 900), clock("b", 905), clock("e", 898, 1, "executor")] },
    ["clock-offset"],
  ],
  [
    "a step",
    { clockSteps: [{ at: at(-minute), node: "a", part: "store", offsetMs: 60_000 }] },
    ["clock-step"],
  ],
  [
    "a step of yesterday",
    { clockSteps: [{ at: at(-86_400_000), node: "a", part: "store", offsetMs: 60_000 }] },
    [],
  ],
  [
    "chrony that complains",
    { clockSource: { node: "w", problems: ["no source can be reached"], details: {} } },
    ["clock-source"],
  ],
  ["a backlog that grows", { backlog: backlog((i) => 40 + i) }, ["backlog-growing"]],
  ["a backlog that is high and shrinks", { backlog: backlog((i) => 80 - i) }, []],
  ["a backlog that grows and is small", { backlog: backlog((i) => i) }, []],
  [
    "a standby that lags",
    { health: { ...healthy, replicas: [{ name: "r", lagBytes: 1, lagMs: 120_000 }] } },
    ["replica-behind"],
  ],
  [
    "dead rows that stay",
    { health: { ...healthy, oldestXmin: { who: "psql", ageMs: 60 * minute, transactions: 9 } } },
    ["xmin-held"],
  ],
  [
    "a full store",
    { health: { ...healthy, databaseBytes: 2_000 } },
    ["store-full"],
    { storeFullBytes: 2_000 },
  ],
  ["two hosts with the virtual address", addresses(true, true), ["two-virtual-address-holders"]],
  ["an address that has just moved", addresses(true, true, -21_000), []],
  ["an address that nobody has had for half a minute", addresses(false, false, 0, -30_000), []],
  [
    "an address that nobody has had for a minute",
    addresses(false, false, 0, -61_000),
    ["no-virtual-address-holder"],
  ],
  [
    "one host without the address, and one that cannot look",
    addresses(null, false, 0, -61_000),
    ["no-virtual-address-holder"],
  ],
  ["no virtual address at all", { ...addresses(null, null), virtualAddressHeldAt: null }, []],
  ["room on the store's disk", { storeDisks: [disk(0.21)] }, []],
  ["little room on the store's disk", { storeDisks: [disk(0.19)] }, ["store-disk"]],
  ["a disk that is no longer reported", { storeDisks: [disk(0.9, -6 * minute)] }, ["store-disk"]],
  ["a host that is not synchronised", says({ isSynchronized: false }), ["time-source"]],
  ["a host with one source", says({ reachable: 1 }), ["time-source"]],
  ["a host with a source that lies", says({ falsetickers: ["10.0.0.9"] }), ["time-source"]],
  ["a host that takes leap seconds in another way", says({ leapPolicy: "step" }), ["time-source"]],
  ["a daemon that answers no more", says({ isSynchronized: null, why: "no answer" }), ["time-source"]],
  ["a host that never had chrony", says({ isSynchronized: null, why: "none", wasKnown: false }), []],
  ["a daemon that nobody has asked for long", says({ at: at(-6 * minute) }), ["time-source"]],
  [
    "a server that may not be seen",
    { health: { databaseBytes: null, replicas: null, oldestXmin: null, unknown: ["replicas"] } },
    [],
  ],
])("%s", (what, change, rules, tuned = {}) => {
  // Hanging: as the run above, looked at when 1.5 times its usual slow duration has passed.
  const seen = picture(change);
  const later =
    what === "the same, hanging"
      ? {
          ...seen,
          now: at(0),
          jobs: seen.jobs.map((one) => ({ ...one, baseline: { ...one.baseline!, slowMs: 2 * minute } })),
        }
      : seen;
  const findings = judge(later, { ...settings, ...tuned });
  expect(findings.map(({ rule }) => rule)).toEqual(rules);
  expect(new Set(findings.map(({ key }) => key)).size).toBe(findings.length);
});

test("a rule that breaks is a finding, and the others go on", () => {
  const broken = {
    ...picture({ leader: { holder: null, node: null, epoch: 1, expiresAt: at(-9 * minute) } }),
    failed: null as never,
  };
  expect(judge(broken, settings).map(({ rule }) => rule)).toEqual(["no-leader", "rule-failed"]);
});
