/** One cluster under attack, from its start to its verdict. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import { monotonicMs, sleep } from "../../src/base/monotonic.ts";
import { judge, type Verdict } from "../../src/chaos/checker.ts";
import { type History, parseHistory } from "../../src/chaos/history.ts";
import { Witness, type WitnessClaim } from "../../src/chaos/witness.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { SeededRandom } from "../chaos/seeded-random.ts";
import { circumstances } from "./circumstances.ts";
import { ClusterView } from "./cluster-view.ts";
import { aimsOf, lanes, type Phase, planLane } from "./fault-plan.ts";
import { type InjectedFault, Injector } from "./injector.ts";
import { escapement } from "./product.ts";
import { settle } from "./settle.ts";
import { jobFileText, obligationsOf, tortureJob } from "./torture-jobs.ts";

export interface ClusterResult {
  readonly verdict: Verdict;
  /** Of each of the verdict's first findings, what happened around it. */
  readonly circumstances: readonly (readonly string[])[];
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

/** Of a cluster; more would hide the first. */
const explainedFindings = 5;
/** Time to drain after the last fault. */
const settleDeadlineMs = 180_000;

export class TortureCluster {
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
    // Four clusters on two cores may keep a supervisor from its timer for half a second: the margin in which
    // it kills must be longer than that (the product's own is 3 s).
    const lease = { lease: "2s", renewEvery: "500ms", stopEarly: "800ms" };
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
      circumstances: verdict.findings.slice(0, explainedFindings).map((one) => circumstances(history, one)),
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
        await this.injector.revive(node).catch((error) => this.injector.troubles.push(messageOf(error)));
      }
    }
  }

  async #stopKeeper(): Promise<void> {
    this.#keeperStop.abort();
    await this.#keeper;
  }
}
