/**
 * A host of the process tier: one node of a local cluster, broken by signals, by
 * its proxy and by its process-level clock. Like a real one it does the whole
 * drill by itself, on a timer of its own.
 */
import { readFileSync } from "node:fs";
import { EscapementError } from "../../../src/base/errors.ts";
import { monotonicMs, sleep } from "../../../src/base/monotonic.ts";
import type {
  DrillEvent,
  DrillHost,
  DrillOrder,
  DrillProgress,
  DrillRunState,
  HostLook,
  Peer,
  PeerAnswer,
  Residue,
  ResidueAudit,
} from "../../../src/chaos/host/drill-host.ts";
import type { ClusterNode } from "../../../src/lab/cluster-node.ts";
import type { ProcessCluster } from "../../../src/lab/process-cluster.ts";

export const bootId = "00000000-0000-4000-8000-000000000001";
/** As systemd does it. */
const restartAfterMs = 100;

export class ProcessDrillHost implements DrillHost {
  readonly host: string;
  readonly #cluster: ProcessCluster;
  readonly #node: ClusterNode;
  #order: DrillOrder | undefined;
  #state: DrillRunState = "none";
  #events: DrillEvent[] = [];
  #end = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #restarts = 0;
  /** Tests leave something behind with it. */
  leaveBehind: Residue | undefined;
  /** Tests wait with it for the moment that they need. */
  beforeInject: (() => Promise<void>) | undefined;
  /** Addresses of the host besides its own, at every look. */
  addresses: () => readonly string[] = () => [];
  /** Who answers this host; the scene knows the others. */
  answers: (peer: Peer) => PeerAnswer = () => "unknown";
  /** Tests break protections the moment the fault is injected. */
  onInject: (() => Promise<void>) | undefined;

  constructor(cluster: ProcessCluster, node: ClusterNode) {
    this.#cluster = cluster;
    this.#node = node;
    this.host = node.name;
  }

  async look(units: readonly string[], paths: readonly string[] = []): Promise<HostLook> {
    const { pid = 0 } = this.#node;
    const unit = {
      active: this.#node.state === "stopped" ? "failed" : "active",
      mainPid: pid,
      processState: stateOf(pid),
      restarts: this.#restarts,
    };
    return {
      bootId,
      wallMs: Date.now() + (this.#node.clock?.offsetMs ?? 0),
      bootMs: monotonicMs(),
      uncertaintyMs: 1,
      addresses: ["127.0.0.1", ...this.addresses()],
      units: Object.fromEntries(units.map((name) => [name, unit])),
      timeDaemon: undefined,
      freeBytes: Object.fromEntries(paths.map((path) => [path, 2 ** 40])),
      can: {
        kill: true,
        stop: true,
        pause: true,
        cut: true,
        clock: this.#node.clock ? true : "needs a process-level clock",
      },
      running: this.#state === "running" || this.#state === "restoring" ? this.#order?.run : undefined,
    };
  }

  async reach(peer: Peer): Promise<PeerAnswer> {
    return this.answers(peer);
  }

  /** The network lets others through to it. */
  get isOpen(): boolean {
    return this.#node.proxy.state === "open";
  }

  async begin(order: DrillOrder): Promise<void> {
    const refuse = (reason: string) => new EscapementError("E_DRILL_REFUSED", { host: this.host, reason });
    if (this.#state === "running" || this.#state === "restoring") throw refuse("a drill is on");
    if (order.bootId !== bootId) throw refuse("another boot");
    this.#order = order;
    this.#state = "running";
    this.#events = [];
    this.#end = new AbortController();
    this.#note("armed");
    this.#done = this.#perform(order);
  }

  async progress(run: string, afterSeq = 0): Promise<DrillProgress> {
    if (this.#order?.run !== run) return { state: "none", events: [] };
    return { state: this.#state, events: this.#events.filter(({ seq }) => seq > afterSeq) };
  }

  async halt(): Promise<{ halted: boolean; restoredMs: number }> {
    const since = monotonicMs();
    const halted = this.#state === "running" || this.#state === "restoring";
    this.#end.abort();
    await this.#done;
    return { halted, restoredMs: monotonicMs() - since };
  }

  async audit(): Promise<ResidueAudit> {
    const { state, proxy, clock } = this.#node;
    const residue: Residue[] = [];
    if (state === "frozen") residue.push({ what: "stopped process", detail: String(this.#node.pid) });
    if (state === "stopped") residue.push({ what: "unit down", detail: this.host });
    if (proxy.state !== "open") residue.push({ what: "cut", detail: proxy.state });
    if (clock && clock.offsetMs !== 0) residue.push({ what: "clock", detail: `${clock.offsetMs} ms` });
    if (this.leaveBehind) residue.push(this.leaveBehind);
    return { residue, unseen: [] };
  }

  async close(): Promise<void> {}

  /** Until the drill, if one is on, has restored. */
  async idle(): Promise<void> {
    await this.#done;
  }

  async #perform(order: DrillOrder): Promise<void> {
    const before = this.#node.pid ?? 0;
    await this.beforeInject?.();
    await this.#inject(order);
    await this.onInject?.();
    this.#note("injected", { pid: before });
    this.#note("holding");
    const until = monotonicMs() + order.holdSeconds * 1_000;
    let proven = false;
    while (monotonicMs() < until && !this.#end.signal.aborted) {
      if (!proven) proven = this.#prove(order, before);
      if (order.fault === "kill" && !order.keepDown && this.#node.state === "stopped") await this.#restart();
      await sleep(100, this.#end.signal);
    }
    this.#state = "restoring";
    await this.#restore(order);
    this.#note("restored");
    const { residue } = await this.audit();
    this.#note("audit", { residue: residue.length });
    this.#note("ended");
    this.#state = "ended";
  }

  async #inject(order: DrillOrder): Promise<void> {
    const node = this.#node;
    if (order.fault === "kill") await node.kill();
    else if (order.fault === "stop") await node.stop();
    else if (order.fault === "pause") node.freeze();
    else if (order.fault === "cut") node.proxy.pause(order.direction === "receive" ? "to-client" : "both");
    else if (order.fault === "clock")
      await this.#cluster.setClock(node.name, (order.offsetSeconds ?? 0) * 1_000);
  }

  #prove(order: DrillOrder, before: number): boolean {
    const node = this.#node;
    const active = node.state === "stopped" ? "failed" : "active";
    const open = node.proxy.connections.open;
    const detail =
      order.fault === "kill" || order.fault === "stop"
        ? { inEffect: node.pid !== before, pidBefore: before, pidNow: node.pid ?? 0, active }
        : order.fault === "pause"
          ? { inEffect: stateOf(before) === "T", processState: stateOf(before) }
          : order.fault === "cut"
            ? { inEffect: open > 0, receivedDropped: open, sentDropped: 0 }
            : { inEffect: true, offsetMs: node.clock?.offsetMs ?? 0 };
    if (detail.inEffect) this.#note("proof", detail);
    return detail.inEffect;
  }

  async #restart(): Promise<void> {
    await sleep(restartAfterMs);
    this.#restarts += 1;
    await this.#node.start();
  }

  async #restore(order: DrillOrder): Promise<void> {
    const node = this.#node;
    if (order.fault === "pause") node.thaw();
    if (order.fault === "cut") node.proxy.heal();
    if (order.fault === "clock") await this.#cluster.setClock(node.name, 0);
    if (node.state === "stopped") await this.#restart();
  }

  #note(event: DrillEvent["event"], detail: DrillEvent["detail"] = {}): void {
    const seq = this.#events.length + 1;
    const wallMs = Date.now() + (this.#node.clock?.offsetMs ?? 0);
    this.#events.push({ seq, event, wallMs, bootMs: monotonicMs(), detail });
  }
}

function stateOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3);
  } catch {
    return "";
  }
}
