/** Makes one fault of a plan happen, proves it, undoes it, and writes it down. */
import { isEscapementError, messageOf } from "../../src/base/errors.ts";
import { sleep } from "../../src/base/monotonic.ts";
import type { Fault } from "../../src/chaos/history.ts";
import type { ClusterNode } from "../../src/lab/cluster-node.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { FaultStep, Phase } from "./fault-plan.ts";
import { insides } from "./insides.ts";
import { applyFault } from "./node-faults.ts";
import { childrenOf } from "./processes.ts";

/** How long a step waits for the cluster to be where it aims; then it strikes where the cluster is. */
const patienceMs = 2_500;
/** The same for a process that is to run into a lock: a new leader may have to come first. */
const lockPatienceMs = 5_000;

export interface InjectedFault extends Fault {
  readonly phase: Phase;
  /** The phase the plan wanted. */
  readonly aim: Phase;
}

export class Injector {
  readonly faults: InjectedFault[] = [];
  /** What went wrong with the harness itself; any of it makes the result doubtful. */
  readonly troubles: string[] = [];
  /** Processes that ended without being told to. */
  readonly selfExits: string[] = [];
  readonly #view: ClusterView;
  readonly #now: () => number;
  readonly #busy = new Set<string>();
  readonly #recoveries = new Set<Promise<void>>();
  #storeBusy = false;

  /** @param now the witness's clock */
  constructor(view: ClusterView, now: () => number) {
    this.#view = view;
    this.#now = now;
  }

  /** True while a fault has its hands on this node. */
  isBusy(node: ClusterNode): boolean {
    return this.#busy.has(node.name);
  }

  /** Injects a step; returns when it has struck. Its end is awaited by {@link recovered}. */
  async inject(step: FaultStep, ended: AbortSignal): Promise<void> {
    await sleep(step.pauseMs, ended);
    if (ended.aborted) return;
    try {
      if (step.role === "store") await this.#strikeStore(step, ended);
      else if (step.aim === "leader-planning" || step.aim === "leader-opening" || step.aim === "reclaim")
        await this.#strikeInside(step);
      else await this.#strikeNode(step, ended);
    } catch (error) {
      // The store may be taken away at any moment; a step that needed it is simply not done.
      if (isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE") return;
      this.troubles.push(`${step.kind} ${step.aim}: ${messageOf(error)}`);
    }
  }

  /** Waits until every fault is over and its node back. */
  async recovered(): Promise<void> {
    while (this.#recoveries.size > 0) await Promise.all(this.#recoveries);
  }

  async #strikeNode(step: FaultStep, ended: AbortSignal): Promise<void> {
    const until = performance.now() + patienceMs;
    let node: ClusterNode | undefined;
    for (let look = 0; !ended.aborted; look++) {
      if (look % 10 === 0) await this.#view.refresh();
      node = this.#choose(step);
      if (node && this.#view.phaseOf(node, step.aim) === step.aim) break;
      if (performance.now() > until) break;
      await sleep(15, ended);
    }
    if (!node || ended.aborted) return;
    await this.#strike(step, node, this.#view.phaseOf(node, step.aim));
  }

  /** A node of the step's role that is running and under no other fault. */
  #choose({ role, nth }: FaultStep): ClusterNode | undefined {
    const { leader, cluster } = this.#view;
    const free = (node: ClusterNode) => node.state === "running" && !this.isBusy(node);
    if (role === "leader") return leader && free(leader) ? leader : undefined;
    if (role === "standby") return cluster.schedulers.find((node) => node !== leader && free(node));
    // One executor is always left alone, so that the work goes on.
    const { executors } = cluster;
    if (executors.filter((node) => !free(node)).length >= executors.length - 1) return undefined;
    return [0, 1, 2].map((i) => executors[(nth + i) % executors.length]!).find(free);
  }

  /** Lets a process run into a locked row, so that it is struck in the middle of that statement. */
  async #strikeInside(step: FaultStep): Promise<void> {
    const dead = step.aim === "reclaim" ? await this.#leaveSomethingToReclaim(step) : undefined;
    if (step.aim === "reclaim" && dead === undefined) return;
    await this.#view.refresh();
    const { lock, statements, phaseOf } = insides[step.aim as keyof typeof insides];
    const values = dead === undefined ? [] : [dead];
    await this.#view.strikeInside({ text: lock, values }, statements, lockPatienceMs, async (node) => {
      if (this.isBusy(node) || node.state !== "running") return false;
      await this.#strike(step, node, phaseOf(node.role));
      return true;
    });
  }

  /** @returns the pid of an executor that is dead for so long that somebody else has to take its shards */
  async #leaveSomethingToReclaim(step: FaultStep): Promise<number | undefined> {
    const until = performance.now() + patienceMs;
    let node: ClusterNode | undefined;
    do {
      await this.#view.refresh();
      node = this.#choose(step);
      if (!node) await sleep(100);
    } while (!node && performance.now() < until);
    const pid = node?.pid;
    if (node && pid !== undefined)
      await this.#strike({ ...step, lastsMs: 5_000 }, node, this.#view.phaseOf(node, step.aim));
    return pid;
  }

  async #strike(step: FaultStep, node: ClusterNode, phase: Phase): Promise<void> {
    const pid = node.pid;
    if (pid === undefined) return;
    if (step.kind.endsWith("supervisor") && childrenOf([pid]).length === 0) return;
    const attemptsHit = node.role === "executor" ? this.#view.liveOn(node).length : 0;
    const fault: InjectedFault = {
      kind: step.kind,
      target: node.name,
      phase,
      aim: step.aim,
      at: this.#instant(),
      until: null,
      proven: false,
      attemptsHit,
      unsupervised: [],
    };
    this.#busy.add(node.name);
    this.faults.push(fault);
    const undo = await applyFault(this.#view, step.kind, node, pid, fault);
    const kills = step.kind === "kill" || step.kind === "kill-with-supervisor";
    if (kills && !fault.proven) {
      // It had just ended by itself: nobody was struck.
      this.faults.splice(this.faults.indexOf(fault), 1);
      this.#noteSelfExit(node);
    }
    const over = this.#track(async () => {
      await sleep(step.lastsMs);
      await undo();
      if (node.state === "stopped") {
        if (!kills) this.#noteSelfExit(node);
        await this.#startAgain(node);
      }
      fault.until = this.#instant();
      this.#busy.delete(node.name);
    });
    // The other executors need a few quiet seconds to be sure that this one is dead; then its late writes are refused.
    if (step.kind === "freeze-host") await over;
  }

  async #strikeStore(step: FaultStep, ended: AbortSignal): Promise<void> {
    if (this.#storeBusy) return;
    const { witness, cluster } = this.#view;
    const until = performance.now() + patienceMs;
    while (witness.live().length === 0 && performance.now() < until) await sleep(15, ended);
    if (ended.aborted) return;
    this.#storeBusy = true;
    const { server } = cluster;
    const live = witness.live().length;
    const fault: InjectedFault = {
      kind: step.kind,
      target: "postgresql",
      phase: live > 0 ? "store-busy" : "store-idle",
      aim: step.aim,
      at: this.#instant(),
      until: null,
      proven: false,
      attemptsHit: live,
      unsupervised: [],
    };
    this.faults.push(fault);
    await server.stop(step.kind === "store-stop" ? "immediate" : "fast");
    fault.proven = !server.running;
    if (step.whileDown) {
      const candidates =
        step.whileDown === "scheduler" ? this.#view.cluster.schedulers : this.#view.cluster.executors;
      const node = candidates.find((one) => one.state === "running" && !this.isBusy(one));
      if (node) await this.#strike({ ...step, kind: "kill", aim: "store-down" }, node, "store-down");
    }
    this.#track(async () => {
      await sleep(step.lastsMs);
      await server.start();
      fault.until = this.#instant();
      this.#storeBusy = false;
    });
  }

  /** Ends when the new process serves; a store that is away is waited for. */
  async #startAgain(node: ClusterNode): Promise<void> {
    await node.start();
    for (;;) {
      try {
        return await this.#view.cluster.ready(node.name);
      } catch (error) {
        if (!isEscapementError(error)) throw error;
        if (node.state === "stopped") await this.revive(node);
        else if (error.code !== "E_STORE_UNAVAILABLE" && !this.#storeBusy) throw error;
        await sleep(100);
      }
    }
  }

  /** A process ended by itself: notes why, and starts it again as an init system would. */
  async revive(node: ClusterNode): Promise<void> {
    this.#noteSelfExit(node);
    await node.start();
  }

  #noteSelfExit(node: ClusterNode): void {
    const { code, signal: by } = node.lastExit ?? {};
    // Log lines are JSON; what the program says on its way out is not.
    const lines = node.logTail(20_000).trim().split("\n").slice(1);
    const words = lines
      .filter((line) => !line.startsWith("{"))
      .slice(-6)
      .join(" | ");
    this.selfExits.push(`${node.name}: ${by ?? `code ${code}`}: ${words}`);
  }

  #track(work: () => Promise<void>): Promise<void> {
    const recovery = work()
      .catch((error) => {
        this.troubles.push(messageOf(error));
      })
      .finally(() => this.#recoveries.delete(recovery));
    this.#recoveries.add(recovery);
    return recovery;
  }

  #instant(): string {
    return new Date(this.#now()).toISOString();
  }
}
