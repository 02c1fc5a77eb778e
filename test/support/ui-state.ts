/** States of the screens, made by events as in life, without a store. */

import { addBins, binOf } from "../../src/tui/data/day.ts";
import type { JobEntry } from "../../src/tui/data/job-entry.ts";
import { viewOf } from "../../src/tui/data/jobs-view.ts";
import type { PartName, Parts } from "../../src/tui/data/picture.ts";
import { drawFrame } from "../../src/tui/screens/frame.ts";
import type { UiEvent } from "../../src/tui/state/event.ts";
import { reduce } from "../../src/tui/state/reducer.ts";
import { type Effect, type State, startState } from "../../src/tui/state/state.ts";
import type { Step } from "../../src/tui/state/step.ts";
import { plainText } from "../../src/tui/text/line.ts";
import { testJob } from "./job.ts";

export const now = new Date("2026-11-30T02:07:31Z");

export function sampleJob(jobId: number, change: Partial<JobEntry> = {}): JobEntry {
  const name = change.name ?? `job-${String(jobId).padStart(4, "0")}`;
  const { schedule, timeZone, misfire, blocking, catchUp, retry, resources } = testJob(name, {
    schedule: { kind: "cron", cron: "0 2 * * *" },
    misfire: { policy: "run-now", thresholdMs: 60_000 },
  });
  const fireTime = new Date("2026-11-30T02:00:00Z");
  return {
    jobId,
    namespace: "default",
    name,
    label: name,
    state: "active",
    stateReason: null,
    stateSince: now,
    version: 1,
    plannedUntil: new Date(now.getTime() + 120_000),
    definition: { schedule, timeZone, misfire, blocking, catchUp, retry, resources },
    problem: null,
    bins: [
      {
        bin: binOf(fireTime.getTime()),
        done: 1,
        running: 0,
        waiting: 0,
        failed: 0,
        missed: 0,
        refused: 0,
        late: 0,
      },
    ],
    fires: [{ fireTime, status: "success", durationMs: 1_000 * jobId, lateMs: 40, reason: null }],
    trouble: [],
    unplannedMs: [],
    ...change,
  };
}

/** One that failed at 02:00. */
export function failedJob(jobId: number, name: string): JobEntry {
  const fire = {
    fireTime: new Date("2026-11-30T02:00:00Z"),
    status: "failed" as const,
    durationMs: 1_000,
    lateMs: 40,
    reason: "2 of 64 shards failed",
  };
  return sampleJob(jobId, {
    name,
    bins: [
      {
        bin: binOf(fire.fireTime.getTime()),
        done: 0,
        running: 0,
        waiting: 0,
        failed: 1,
        missed: 0,
        refused: 0,
        late: 0,
      },
    ],
    fires: [fire],
    trouble: [fire],
  });
}

export const cluster: Parts["cluster"] = {
  now,
  leader: {
    node: "scheduler-1",
    epoch: 12,
    alive: true,
    leaseLeftMs: 9_000,
    since: new Date("2026-11-27T02:00:00Z"),
  },
  schedulers: [],
  executors: [
    {
      node: "executor-1",
      host: "batch-01",
      pid: 1,
      version: "0.1.0",
      state: "active",
      leaseLeftMs: 9_000,
      startedAt: now,
      slots: 8,
      running: 2,
      offsetMs: 0.4,
      timeSource: null,
      drain: null,
    },
  ],
  watchmen: [],
  work: { open: 1, held: 0, planned: 3, shardsRunning: 2, shardsWaiting: 4, staleWrites: 0 },
};

export interface UiDriver {
  state: State;
  readonly effects: Effect[];
  send(...events: readonly UiEvent[]): UiDriver;
  press(...keys: readonly string[]): UiDriver;
  give<Name extends PartName>(part: Name, value: Parts[Name]): UiDriver;
  jobs(jobs: readonly JobEntry[]): UiDriver;
  /** The frame as a person reads it. */
  text(): string;
}

/** Screens that have just been opened, at 80 × 24 unless said otherwise. */
export function openUi(
  options: { operator?: boolean; columns?: number; rows?: number; inventory?: string; asked?: boolean } = {},
): UiDriver {
  const { operator = false, columns = 80, rows = 24, inventory = null } = options;
  const driver: UiDriver = {
    state: startState({
      size: { columns, rows },
      nowMs: 1_000,
      operator,
      readOnlyReason: "read-only; start it with --operator",
      storeOptions: ["--cluster", "cluster.yaml"],
      inventory,
    }),
    effects: [],
    send(...events) {
      for (const event of events) {
        const step: Step = reduce(driver.state, event);
        driver.state = step.state;
        driver.effects.push(...step.effects);
      }
      return driver;
    },
    press: (...keys) => driver.send(...keys.map((key) => ({ type: "key", key }) as const)),
    give: (part, value) => driver.send({ type: "data", part, value, nowMs: driver.state.nowMs } as UiEvent),
    jobs: (jobs) =>
      driver.give("jobs", viewOf(jobs, addBins(jobs.map(({ bins }) => bins)), now.getTime(), true)),
    text: () => plainText(drawFrame(driver.state)),
  };
  return options.asked === false ? driver : driver.give("cluster", cluster);
}
