/**
 * The load of a run: a witness on the controller, and probe jobs that speak to
 * it. Half of the shards act late and half act early, so that a fault catches
 * attempts before and after their act.
 */
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { Database } from "../../store/database.ts";
import { isPlannedAhead, type RecordedJob, recordedJobs } from "../../store/drill/drill-records.ts";
import { type ClusterSample, probeNamespace, sampleCluster } from "../../store/drill/drill-sample.ts";
import type { Deed } from "../../store/operation.ts";
import { probeRoom } from "../plan/probe-room.ts";
import type { DrillTargetHost, TargetChoice } from "../plan/select-target.ts";
import { Witness, type WitnessClaim } from "../witness.ts";
import { installProbes, outlives, probeJobs, stopProbes } from "./probe-load.ts";
import type { ReferenceClock } from "./reference-clock.ts";
import type { RunDrillOptions } from "./run-options.ts";
import { whileAway } from "./settle-records.ts";
import { placeTaken } from "./witness-place.ts";

export interface AimedFault {
  readonly target: DrillTargetHost;
  /** The records of just before. */
  readonly before: ClusterSample;
}

/** Parts of an attempt's time before and after its act, by shard. */
const lateAct = 0.95;
const earlyAct = 0.2;
/** For the first fires, on a cluster that has nothing wrong with it. */
const steadyPatienceMs = 60_000;
const aimPatienceMs = 120_000;
/** Only an attempt that has just begun: the fault takes a moment to arrive. */
const freshMs = 700;
/** A frozen attempt is kept from acting until it has a successor, but not for ever. */
const zombiePatienceMs = 10_000;

export class DrillLoad {
  readonly witness: Witness;
  readonly jobCount: number;
  /** Incarnations of the executor that was struck. */
  readonly struck = new Set<string>();
  readonly #options: RunDrillOptions;
  readonly #deed: Deed;
  readonly #zombies: { until: number };

  private constructor(options: RunDrillOptions, deed: Deed, witness: Witness, zombies: { until: number }) {
    this.#options = options;
    this.#deed = deed;
    this.witness = witness;
    this.jobCount = options.definition.load.jobs;
    this.#zombies = zombies;
  }

  /** Starts the witness and installs the probes. @throws E_DRILL_REFUSED where the witness cannot listen */
  static async begin(options: RunDrillOptions, runId: string, clock: ReferenceClock): Promise<DrillLoad> {
    const { definition, variant, probe, db, person } = options;
    const { shardMs } = definition.load;
    const zombies = { until: 0 };
    let load: DrillLoad | undefined;
    const start = options.startWitness ?? ((witnessOptions) => Witness.start(witnessOptions));
    const witness = await start({
      now: () => clock.nowMs(),
      address: probe.address,
      port: probe.port ?? 0,
      holdMs: ({ shardNo }, answered) => {
        const before = shardNo % 2 === 0 ? lateAct : earlyAct;
        return shardMs * (answered === "begin" ? before : 1 - before);
      },
      keepWaiting: (claim, answered) => answered === "begin" && (load?.isZombie(claim) ?? false),
    }).catch((error: unknown) => {
      throw placeTaken(options, error);
    });
    const deed = { person, reason: `drill ${runId}` };
    load = new DrillLoad(options, deed, witness, zombies);
    try {
      const { class: name } = probeRoom((await sampleCluster(db)).executors, definition.load);
      const jobs = probeJobs(definition, variant, { ...probe, port: witness.port, class: name });
      await installProbes(db, jobs, deed, options.cluster.executor.leaseMs);
    } catch (error) {
      await witness.close();
      throw error;
    }
    return load;
  }

  /** True while an attempt of the paused executor has to wait for its successor. */
  isZombie(claim: WitnessClaim): boolean {
    return (
      this.struck.has(claim.owner) &&
      monotonicMs() < this.#zombies.until &&
      outlives(this.#options.variant, jobNumber(claim.job)) &&
      !this.witness.isSuperseded(claim)
    );
  }

  /** Waits until every shard of every probe has had its effect once. False: it did not come to that. */
  async steady(stops: readonly AbortSignal[]): Promise<boolean> {
    const { jobs, shards, everyMs, shardMs } = this.#options.definition.load;
    const until = monotonicMs() + steadyPatienceMs + everyMs * 3 + shardMs;
    while (monotonicMs() < until && !stops.some((stop) => stop.aborted)) {
      const done = new Set(this.witness.effects.map(({ job, shardNo }) => `${job} ${shardNo}`));
      if (done.size >= jobs * shards) return true;
      await sleep(100);
    }
    return false;
  }

  /** Waits for the moment: a target that fits, and if it is an executor, one that has just begun a probe. */
  async aim(
    stops: readonly AbortSignal[],
    choose: (sample: ClusterSample) => TargetChoice,
  ): Promise<AimedFault | undefined> {
    const { db, variant } = this.#options;
    const seen = new Map<string, number>();
    const until = monotonicMs() + aimPatienceMs;
    for (let first = true; monotonicMs() < until && !stops.some((stop) => stop.aborted); first = false) {
      for (const claim of this.witness.live()) {
        const key = claimName(claim);
        if (!seen.has(key)) seen.set(key, first ? 0 : monotonicMs());
      }
      const isFresh = (claim: WitnessClaim) => monotonicMs() - (seen.get(claimName(claim)) ?? 0) < freshMs;
      const fresh = this.witness.live().filter((claim) => !claim.acted && isFresh(claim));
      if (variant.target.role !== "executor" || fresh.some((claim) => this.#counts(claim))) {
        const before = await sampleCluster(db);
        const aimed = this.#aimAt(before, choose(before), fresh);
        if (aimed) return { target: aimed, before };
      }
      await sleep(100);
    }
    return undefined;
  }

  /** The fault is about to begin. */
  strike(target: DrillTargetHost, before: ClusterSample): void {
    for (const { node, incarnation, expired } of before.executors)
      if (target.part === "executor" && node === target.host && !expired) this.struck.add(incarnation);
    this.#zombies.until = Number.POSITIVE_INFINITY;
  }

  restored(): void {
    this.#zombies.until = monotonicMs() + zombiePatienceMs;
  }

  /** No more fires. @returns the probe jobs as they stand then */
  async stop(deadline: number): Promise<RecordedJob[]> {
    const { db } = this.#options;
    await whileAway(() => this.#caughtUp(db, deadline), deadline);
    await whileAway(() => stopProbes(db, this.#deed), deadline);
    return whileAway(() => recordedJobs(db, probeNamespace, false, new Date(8.64e15)), deadline);
  }

  async close(): Promise<void> {
    await this.witness.close();
  }

  /** A leader plans ahead again, as it did before: what is stopped now has no gap in its plan. */
  async #caughtUp(db: Database, deadline: number): Promise<void> {
    while (!(await isPlannedAhead(db, probeNamespace)) && monotonicMs() < deadline) await sleep(200);
  }

  #counts(claim: WitnessClaim): boolean {
    const { variant } = this.#options;
    return variant.fault.kind !== "pause" || outlives(variant, jobNumber(claim.job));
  }

  /** Of the targets that would do, the first that runs such an attempt. */
  #aimAt(
    { executors }: ClusterSample,
    choice: TargetChoice,
    fresh: readonly WitnessClaim[],
  ): DrillTargetHost | undefined {
    if (!("target" in choice)) return undefined;
    const { variant } = this.#options;
    if (variant.target.role !== "executor") return choice.target;
    return [choice.target, ...choice.also].find(({ host }) => {
      const owners = new Set(
        executors.filter(({ node }) => node === host).map(({ incarnation }) => incarnation),
      );
      return fresh.some((claim) => owners.has(claim.owner) && this.#counts(claim));
    });
  }
}

/** `drill/probe-1` is number 0. */
function jobNumber(job: string): number {
  return Number(/-(\d+)$/.exec(job)?.[1] ?? 1) - 1;
}

function claimName({ job, fireTime, shardNo, fenceToken }: WitnessClaim): string {
  return `${job} ${fireTime} ${shardNo} ${fenceToken}`;
}
