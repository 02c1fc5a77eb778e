/** The jobs of a torture cluster, and what they are obliged to do. */
import type { Obligation } from "../../src/chaos/history.ts";
import { witnessJob } from "../../src/chaos/witness.ts";

export interface TortureJob {
  readonly name: string;
  readonly everySeconds: number;
  readonly shardCount: number;
  readonly mode: "once" | "replace";
  readonly blocking: "allow" | "queue";
  /** From an attempt's begin to its act, and from there to its end; milliseconds, from and to. */
  readonly workMs: readonly [number, number];
  readonly restMs: readonly [number, number];
}

const short = { workMs: [20, 250], restMs: [10, 200] } as const;
const long = { workMs: [3_000, 7_000], restMs: [10, 1_000] } as const;

/**
 * Some fire in every second. Most attempts are short. Those of the vigil last
 * longer than it takes to declare an executor dead, so that one which nobody
 * kills in time is caught beside its successor.
 */
export const tortureJobs: readonly TortureJob[] = [
  { name: "recompute", everySeconds: 1, shardCount: 4, mode: "replace", blocking: "allow", ...short },
  { name: "payout", everySeconds: 2, shardCount: 4, mode: "once", blocking: "allow", ...short },
  { name: "report", everySeconds: 5, shardCount: 8, mode: "replace", blocking: "queue", ...short },
  { name: "vigil", everySeconds: 15, shardCount: 2, mode: "replace", blocking: "allow", ...long },
];

/** @param label namespace and name, as the job's own environment tells it */
export function tortureJob(label: string): TortureJob {
  const found = tortureJobs.find(({ name }) => label === `default/${name}`);
  if (!found) throw new Error(`no torture job ${label}`);
  return found;
}

/** The job files' text; JSON is YAML as well. */
export function jobFileText(witnessPort: number): string {
  return tortureJobs.map((job) => JSON.stringify(definition(job, witnessPort))).join("\n---\n");
}

function definition({ name, everySeconds, shardCount, mode, blocking }: TortureJob, witnessPort: number) {
  return {
    apiVersion: "escapement/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      command: ["bash", "--norc", "-c", witnessJob],
      environment: { WITNESS_PORT: String(witnessPort), WITNESS_MODE: mode },
      schedule: { cron: `*/${everySeconds} * * * * *` },
      timeZone: "UTC",
      // Nothing may count as missed here, however long it was held up.
      misfire: { policy: "run-now", threshold: "1h" },
      blocking: blocking === "queue" ? { policy: "queue", maxQueued: 1000 } : { policy: "allow" },
      catchUp: { maxFires: 5, keep: "oldest" },
      retry: { maxAttempts: 5, delays: ["100ms", "300ms", "1s"] },
      lease: "2s",
      timeout: "30s",
      shards: { by: "hash", count: shardCount, key: "key" },
      resources: { class: "cpu", peakMemory: "8MiB" },
      effects: [
        {
          kind: mode === "once" ? "message" : "table",
          target: "witness",
          key: "shard",
          mode: mode === "once" ? "insert" : "replace",
          sources: ["src/chaos/witness.ts"],
        },
      ],
      onStoreLoss: "kill",
    },
  };
}

export interface JobLife {
  /** Namespace and name, as the job's own environment tells it. */
  readonly job: string;
  /** When the store learned of it, and when it was paused: fires between the two are due. */
  readonly knownSince: Date;
  readonly pausedAt: Date;
}

/** A fire this close to the instant of a pause may go either way. */
const tieMs = 100;
/** Fires planned ahead when the job was paused must have been taken back. */
const aheadMs = 300_000;

/**
 * What the jobs owed. Reckoned by plain arithmetic, not by the product's cron
 * evaluator: a fire at every whole multiple of the interval.
 */
export function obligationsOf(lives: readonly JobLife[]): Obligation[] {
  return lives.flatMap(({ job, knownSince, pausedAt }) => {
    const { everySeconds, shardCount, mode } = tortureJob(job);
    const stepMs = everySeconds * 1_000;
    const obligations: Obligation[] = [];
    const first = (Math.floor(knownSince.getTime() / stepMs) + 1) * stepMs;
    for (let at = first; at <= pausedAt.getTime() + aheadMs; at += stepMs) {
      const fire = { job, fireTime: new Date(at).toISOString(), shardCount, mode };
      const sinceMs = at - pausedAt.getTime();
      if (Math.abs(sinceMs) <= tieMs) obligations.push({ ...fire, allowed: "at-most-one" });
      else if (sinceMs < 0) obligations.push({ ...fire, allowed: "exactly-one" });
      else obligations.push({ ...fire, allowed: "none", because: "revoked" });
    }
    return obligations;
  });
}
