/**
 * The drill's own work: probe jobs that fire every few seconds and make their
 * effect at the witness. Nothing of the cluster treats them in a special way;
 * they are installed and removed by functions of the schema that know no other
 * jobs, so that who runs drills needs no right to change those of others.
 *
 *   (none) ──install──▶ active ──stop──▶ paused ──remove──▶ deleted: what they still have alive is cancelled
 *                          └──────remove (also after a crash)──▲
 */
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { digest } from "../../spec/digest.ts";
import type { DrillDefinition, DrillVariant } from "../../spec/drill-definition.ts";
import type { JobDefinition, ResourceClass } from "../../spec/job-definition.ts";
import type { Database, Queryable } from "../../store/database.ts";
import { probeNamespace } from "../../store/drill/drill-sample.ts";
import { applyProbe, cancelDeletedProbes, endProbe, liveProbes } from "../../store/drill/probe-job.ts";
import { listJobs } from "../../store/job.ts";
import type { Deed } from "../../store/operation.ts";

export interface ProbeSettings {
  /** What executors run: a program that speaks to the witness; see {@link speakToWitness}. */
  readonly command: readonly [string, ...string[]];
  /** Where they reach the witness. */
  readonly address: string;
  readonly port: number;
  readonly class: ResourceClass;
  /** A user of the hosts; absent: as any job that names none. */
  readonly runAs?: string;
}

/** Later than this is a misfire, and caught up as one. */
export const probeThresholdMs = 10_000;
/** Never the reason why something is not caught up. */
const noLimit = 10_000;
/** From the end of a lease on, whatever was cancelled is gone after so long at the latest. */
const marginMs = 30_000;

/** The mode of a probe job: half of them add up, half replace. */
export function probeMode(nth: number): "once" | "replace" {
  return nth % 2 === 0 ? "replace" : "once";
}

/**
 * True if attempts of the nth probe job may outlive their lease. In a drill that
 * pauses an executor some must, or nothing would ever meet the fence.
 */
export function outlives({ fault, target }: DrillVariant, nth: number): boolean {
  return fault.kind === "pause" && target.role === "executor" && nth % 2 === 0;
}

/** The definitions of a drill's probe jobs. */
export function probeJobs(
  { load }: DrillDefinition,
  variant: DrillVariant,
  settings: ProbeSettings,
): JobDefinition[] {
  return Array.from({ length: load.jobs }, (_, nth) => ({
    namespace: probeNamespace,
    name: `probe-${nth + 1}`,
    description: "Work of a drill; removed when it ends.",
    command: settings.command,
    ...(settings.runAs === undefined ? {} : { runAs: settings.runAs }),
    environment: {
      WITNESS_HOST: settings.address,
      WITNESS_PORT: String(settings.port),
      WITNESS_MODE: probeMode(nth),
    },
    schedule: { kind: "every", everyMs: load.everyMs },
    timeZone: "UTC",
    misfire: { policy: "run-now", thresholdMs: probeThresholdMs },
    blocking: { policy: "allow" },
    catchUp: { maxFires: noLimit, keep: "oldest" },
    // A try that the fault took away is no failure of the job.
    retry: { maxAttempts: 100, delaysMs: [500, 1_000, 2_000] },
    leaseMs: 15_000,
    timeoutMs: Math.max(60_000, load.shardMs * 4),
    shards: load.shards === 1 ? { by: "none" } : { by: "hash", count: load.shards, key: "probe", heavy: [] },
    resources: { class: settings.class, peakMemoryBytes: 64 * 2 ** 20 },
    effects: [
      {
        kind: "message",
        target: "witness of the drill",
        key: ["shard"],
        mode: probeMode(nth) === "once" ? "insert" : "replace",
        sources: [],
      },
    ],
    onStoreLoss: outlives(variant, nth) ? "continue-fenced" : "kill",
  }));
}

/**
 * Applies the probe jobs. What an earlier drill left is removed first, and waited for until it has ended: its
 * attempts would speak to the new witness where that listens at the same port.
 * @param leaseMs of executors: what one runs that was cancelled ends with its lease, where nobody can kill it
 */
export async function installProbes(
  db: Database,
  jobs: readonly JobDefinition[],
  deed: Deed,
  leaseMs: number,
): Promise<void> {
  await removeProbes(db, deed);
  const until = monotonicMs() + leaseMs + marginMs;
  while ((await liveProbes(db)) > 0) {
    if (monotonicMs() >= until) throw stillAlive("jobs");
    await sleep(500);
  }
  for (const job of jobs)
    if ((await applyProbe(db, job, digest(job), deed)) === "busy")
      throw stillAlive(`${job.namespace}/${job.name}`);
}

function stillAlive(what: string): EscapementError {
  return new EscapementError("E_REFUSED", {
    what: `shards of an earlier drill's ${what} are still alive`,
    hint: "wait until they have ended, then run the drill again",
  });
}

/** No more fires; what has come due still runs. */
export async function stopProbes(db: Database, deed: Deed): Promise<void> {
  for (const { name, state } of await probesOf(db))
    if (state === "active") await endProbe(db, name, "paused", deed);
}

/**
 * Deletes every probe job and cancels what they still have alive, or it would try for minutes to reach a
 * witness that is gone, and keep the next drill from beginning. Whoever wants their records reads them before.
 * @returns how many there were
 */
export async function removeProbes(db: Database, deed: Deed): Promise<number> {
  const jobs = await probesOf(db);
  for (const { name } of jobs) await endProbe(db, name, "deleted", deed);
  await cancelDeletedProbes(db, deed);
  return jobs.length;
}

/** How many probe jobs there are that are not deleted. */
export async function countProbes(db: Queryable): Promise<number> {
  return (await probesOf(db)).length;
}

async function probesOf(db: Queryable) {
  return (await listJobs(db)).filter(({ namespace }) => namespace === probeNamespace);
}
