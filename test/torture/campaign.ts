/** One torture run: several clusters side by side, faults until the target is reached, then the verdict. */
import { setMaxListeners } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import { monotonicMs, sleep } from "../../src/base/monotonic.ts";
import { judge, type Verdict, worstOutcome } from "../../src/chaos/checker.ts";
import { type History, parseHistory } from "../../src/chaos/history.ts";
import { Witness, type WitnessClaim } from "../../src/chaos/witness.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { SeededRandom } from "../chaos/seeded-random.ts";
import { ClusterView } from "./cluster-view.ts";
import { aimsOf, faultKinds, lanes, type Phase, phases, planLane } from "./fault-plan.ts";
import { type InjectedFault, Injector } from "./injector.ts";
import { escapement } from "./product.ts";
import { settle } from "./settle.ts";
import { jobFileText, obligationsOf, tortureJob } from "./torture-jobs.ts";

export interface CampaignOptions {
  readonly seed: number;
  readonly clusters: number;
  /** Kills to reach, over all clusters; see {@link isKill}. */
  readonly kills: number;
  /** The faults end after this long, reached or not. */
  readonly minutes: number;
  readonly haste?: number;
  /** Only steps that aim at this phase; for looking into one kind of fault. */
  readonly only?: Phase | undefined;
  /** Told now and then how far it is. */
  readonly onProgress?: (line: string) => void;
  /** Histories are written here as JSON, one a cluster. */
  readonly keepHistories?: string | undefined;
}

export interface ClusterResult {
  readonly verdict: Verdict;
  readonly faults: readonly InjectedFault[];
  readonly reruns: number;
  /** Processes that ended by themselves and were started again, as an init system would. */
  readonly selfExits: readonly string[];
  readonly staleWrites: Readonly<Record<string, number>>;
  /** Troubles of the harness; any makes the outcome unknown at best. */
  readonly troubles: readonly string[];
  /** Processes that outlived their node at the very end. */
  readonly strays: number;
}

export interface CampaignResult {
  readonly outcome: Verdict["outcome"];
  readonly seed: number;
  readonly clusters: readonly ClusterResult[];
  readonly kills: number;
  readonly killsWanted: number;
  readonly faultSeconds: number;
  readonly unknown: readonly string[];
}

/** SIGKILL, SIGSTOP, and a stop of PostgreSQL count; a paused network does not. */
export function isKill(fault: InjectedFault): boolean {
  return fault.proven && fault.kind !== "network-pause";
}

/** Time to drain after the last fault. */
const settleDeadlineMs = 180_000;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, clusters: count, kills: killsWanted, minutes } = options;
  const started: TortureCluster[] = [];
  try {
    for (let i = 0; i < count; i++) started.push(await TortureCluster.start(seed, i, options.haste ?? 1));
    const stop = new AbortController();
    setMaxListeners(0, stop.signal); // every lane of every cluster waits on it
    const begun = monotonicMs();
    const lanesRunning = started.map((one) => one.attack(stop.signal, options.only));
    const killed = () => started.reduce((sum, one) => sum + one.injector.faults.filter(isKill).length, 0);
    const struck = () =>
      new Set<Phase>(
        started.flatMap((one) => one.injector.faults.filter((f) => f.proven).map((f) => f.phase)),
      );
    let toldMs = begun;
    while (monotonicMs() - begun < minutes * 60_000) {
      await sleep(250);
      if (killed() >= killsWanted && phases.every((phase) => struck().has(phase))) break;
      if (monotonicMs() - toldMs < 10_000) continue;
      toldMs = monotonicMs();
      options.onProgress?.(`${Math.round((toldMs - begun) / 1_000)} s: ${killed()} of ${killsWanted} kills`);
    }
    stop.abort();
    await Promise.all(lanesRunning);
    const faultSeconds = (monotonicMs() - begun) / 1_000;
    options.onProgress?.(`faults end after ${Math.round(faultSeconds)} s with ${killed()} kills; settling`);
    const clusters = await Promise.all(
      started.map((one) => one.conclude(options.keepHistories, options.onProgress ?? (() => {}))),
    );
    return conclude(options, clusters, faultSeconds);
  } finally {
    await Promise.all(started.map((one) => one.down()));
  }
}

function conclude(
  { seed, kills: killsWanted }: CampaignOptions,
  clusters: ClusterResult[],
  faultSeconds: number,
): CampaignResult {
  const faults = clusters.flatMap((one) => one.faults);
  const kills = faults.filter(isKill).length;
  const unknown = clusters.flatMap((one) => [...one.verdict.unknown, ...one.troubles]);
  if (kills < killsWanted) unknown.push(`${kills} kills; ${killsWanted} were wanted`);
  if (clusters.every((one) => one.verdict.figures.staleRefused === 0))
    unknown.push("no write of a frozen attempt came late and was refused");
  for (const phase of phases) {
    if (!faults.some((fault) => fault.phase === phase && fault.proven))
      unknown.push(`nothing was struck in phase ${phase}`);
  }
  for (const kind of faultKinds) {
    if (!faults.some((fault) => fault.kind === kind && fault.proven))
      unknown.push(`no proven fault of kind ${kind}`);
  }
  const worst = worstOutcome(clusters.map((one) => one.verdict.outcome));
  const outcome = worst === "pass" && unknown.length > 0 ? "unknown" : worst;
  return { outcome, seed, clusters, kills, killsWanted, faultSeconds, unknown };
}

/** One cluster under attack. */
class TortureCluster {
  readonly injector: Injector;
  readonly #number: number;
  readonly #seed: number;
  readonly #haste: number;
  readonly #folder: string;
  readonly #cluster: ProcessCluster;
  readonly #witness: Witness;
  readonly #view: ClusterView;
  #keeper: Promise<void> | undefined;
  readonly #keeperStop = new AbortController();
  #strays: number | undefined;

  private constructor(
    seed: number,
    number: number,
    haste: number,
    folder: string,
    cluster: ProcessCluster,
    witness: Witness,
    now: () => number,
  ) {
    this.#seed = seed;
    this.#number = number;
    this.#haste = haste;
    this.#folder = folder;
    this.#cluster = cluster;
    this.#witness = witness;
    this.#view = new ClusterView(cluster, witness);
    this.injector = new Injector(this.#view, now);
  }

  static async start(seed: number, number: number, haste: number): Promise<TortureCluster> {
    // The witness's clock: one reading of the wall clock, then monotonic time.
    const base = Date.now() - monotonicMs();
    const now = () => base + monotonicMs();
    const random = new SeededRandom(seed + 1_299_709 * (number + 1));
    const holdMs = ({ job }: WitnessClaim, answered: "begin" | "effect") => {
      const { workMs, restMs } = tortureJob(job);
      return random.between(...(answered === "begin" ? workMs : restMs));
    };
    const witness = await Witness.start({ now, holdMs });
    const folder = mkdtempSync(join(tmpdir(), "escapement-torture-"));
    const lease = { lease: "2s", renewEvery: "500ms", stopEarly: "500ms" };
    const jobFile = join(folder, "jobs.yaml");
    writeFileSync(jobFile, jobFileText(witness.port));
    const cluster = await startProcessCluster({
      schedulers: 2,
      executors: 3,
      slots: { cpu: 8, memory: 1, io: 1 },
      scheduler: { ...lease, lookAhead: "8s", maxSleep: "250ms" },
      executor: { ...lease, grace: "2s" },
      // One cluster keeps what a power cut would keep, too; the others save the disk.
      postgresSettings: { fsync: number === 0 ? "on" : "off", shared_buffers: "32MB", max_connections: "80" },
      environment: { ESCAPEMENT_LOG_LEVEL: "warn" },
      prepare: async (_, url) =>
        void (await escapement(url, "jobs", "apply", jobFile, "--reason", "torture")),
    });
    return new TortureCluster(seed, number, haste, folder, cluster, witness, now);
  }

  /** Runs all lanes until the signal, then waits for the last recovery. */
  async attack(signal: AbortSignal, only: Phase | undefined): Promise<void> {
    this.#keeper = this.#keepRunning(this.#keeperStop.signal);
    await Promise.all(
      lanes.map(async (lane) => {
        if (only !== undefined && !aimsOf(lane).includes(only)) return;
        for (const step of planLane(this.#seed, this.#number, lane, this.#haste)) {
          if (signal.aborted) return;
          if (only === undefined || step.aim === only) await this.injector.inject(step, signal);
        }
      }),
    );
    await this.injector.recovered();
  }

  async conclude(keepHistories: string | undefined, tell: (line: string) => void): Promise<ClusterResult> {
    const troubles = [...this.injector.troubles];
    const { records, settled, reruns } = await settle(this.#view, settleDeadlineMs, (line) =>
      tell(`cluster ${this.#number + 1}: ${line}`),
    );
    if (this.#witness.strange.length > 0)
      troubles.push(`the witness heard a strange line: ${this.#witness.strange[0]}`);
    const history: History = parseHistory({
      readAt: records.readAt.toISOString(),
      settled,
      limits: { settleMs: 0 },
      requirements: { obligationsInFault: 5, attemptsHit: 1 },
      obligations: obligationsOf(records.lives).filter(
        (item) => item.allowed === "none" || item.fireTime <= records.readAt.toISOString(),
      ),
      executions: records.executions,
      attempts: records.attempts,
      effects: this.#witness.effects,
      refusals: this.#witness.refusals,
      sightings: this.#witness.sightings,
      faults: this.injector.faults.map(({ aim: _, ...fault }) => fault),
    });
    if (keepHistories !== undefined)
      writeFileSync(join(keepHistories, `history-${this.#number}.json`), JSON.stringify(history));
    const verdict = judge(history);
    await this.#stopKeeper();
    const { strays } = await this.#cluster.down();
    this.#strays = strays;
    return {
      verdict,
      faults: this.injector.faults,
      reruns,
      selfExits: this.injector.selfExits,
      staleWrites: records.staleWrites,
      troubles,
      strays,
    };
  }

  async down(): Promise<void> {
    await this.#stopKeeper();
    await this.#view.end();
    if (this.#strays === undefined) await this.#cluster.down();
    await this.#witness.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What ends by itself is started again, and told. */
  async #keepRunning(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(200, signal);
      for (const node of this.#cluster.nodes) {
        if (signal.aborted || node.state !== "stopped" || this.injector.isBusy(node)) continue;
        await this.injector
          .noteSelfExit(node)
          .catch((error) => this.injector.troubles.push(messageOf(error)));
      }
    }
  }

  async #stopKeeper(): Promise<void> {
    this.#keeperStop.abort();
    await this.#keeper;
  }
}
