/** A picture of a cluster in which nothing is wrong, to lay one wrong thing over. */
import type { ClockReading, HostTimeSource, Picture, WatchedJob } from "../../src/watchman/picture.ts";

export const now = Date.parse("2026-07-01T12:34:00Z");
export const minute = 60_000;
export const at = (ms: number) => new Date(now + ms);
/** The newest whole hour, the job's last fire. */
export const fire = Date.parse("2026-07-01T12:00:00Z");

export const execution = {
  fireTime: new Date(fire),
  status: "success" as const,
  trigger: "schedule" as const,
  openedAt: new Date(fire),
  startedAt: new Date(fire + 1_000),
  endedAt: new Date(fire + 601_000),
  missedSeconds: 1,
};

export const definition = {
  version: 1,
  digest: "d",
  effectiveFrom: at(-86_400_000),
  appliedBy: "sam",
  schedule: { kind: "every" as const, everyMs: 60 * minute },
  timeZone: "UTC",
  misfire: { policy: "run-now" as const, thresholdMs: minute },
  blocking: { policy: "allow" as const },
  timeoutMs: 60 * minute,
  leaseMs: 15_000,
  retry: { maxAttempts: 3 },
};

export function job(change: Partial<WatchedJob> = {}): WatchedJob {
  return {
    ...{ jobId: 1, job: "pay/hourly", state: "active", stateSince: at(-86_400_000) },
    ...{ knownSince: at(-86_400_000), plannedUntil: at(2 * minute), definitions: [definition], pauses: [] },
    ...{ lastSuccess: { ...execution, rows: 1_000 }, sinceSuccess: [], live: [] },
    baseline: { successes: 20, medianMs: 10 * minute, slowMs: 12 * minute, medianRows: 1_000 },
    ...change,
  };
}

export function clock(
  node: string,
  offsetMs: number,
  errorMs = 1,
  part: ClockReading["part"] = "scheduler",
): ClockReading {
  return { node, part, host: `${node}-host`, offsetMs, errorMs };
}

export function timeSource(change: Partial<HostTimeSource> = {}): HostTimeSource {
  return {
    ...{ isSynchronized: true, stratum: 3, leap: "Normal", leapPolicy: "slew", offsetSeconds: 0.0001 },
    ...{ sources: 3, reachable: 3, falsetickers: [], why: null, wasKnown: true, at: at(-30_000) },
    ...change,
  };
}

export function picture(change: Partial<Picture> = {}): Picture {
  return {
    now: at(0),
    leader: { holder: "a", node: "a", epoch: 3, expiresAt: at(10_000) },
    timeZoneData: "2025c",
    schedulers: ["a", "b"].map((node) => ({
      ...{
        incarnation: node,
        node,
        host: node,
        stopped: false,
        lastSeen: at(-1_000),
        timeZoneData: "2025c",
        offsetMs: 2,
        holdsVirtualAddress: node === "a",
        virtualAddressSeenAt: at(-1_000),
        timeSource: timeSource(),
      },
    })),
    executors: [
      {
        incarnation: "e",
        node: "e",
        host: "e",
        state: "active",
        leaseMs: 15_000,
        leaseUntil: at(9_000),
        slots: 8,
        controlOnly: false,
        offsetMs: 1,
        timeSource: timeSource(),
      },
    ],
    jobs: [job()],
    ...{
      absentFires: [],
      failed: [],
      shards: [],
      clockSteps: [],
      clockSource: null,
      tampered: [],
      backlog: [],
      storeDisks: [],
      virtualAddressHeldAt: at(-1_000),
    },
    clocks: [clock("a", 4), clock("b", -4)],
    health: null,
    ...change,
  };
}
