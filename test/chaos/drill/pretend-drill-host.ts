/**
 * A host that breaks nothing and says that it did: it keeps to an order's times
 * by itself as a real one does, and shows the fault to whoever looks. For tests
 * of what a controller leaves behind, with every fault there is.
 */
import { randomUUID } from "node:crypto";
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
  ResidueAudit,
} from "../../../src/chaos/host/drill-host.ts";

type Detail = DrillEvent["detail"];

const mainPid = 1_000;

export class PretendDrillHost implements DrillHost {
  readonly host: string;
  /** Every order it has taken. */
  readonly orders: DrillOrder[] = [];
  #bootId = randomUUID() as string;
  #state: DrillRunState = "none";
  #inEffect = false;
  #pid = mainPid;
  #events: DrillEvent[] = [];
  #end = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(host: string) {
    this.host = host;
  }

  async look(units: readonly string[], paths: readonly string[] = []): Promise<HostLook> {
    const order = this.#inEffect ? this.orders.at(-1) : undefined;
    const isDown = order?.keepDown === true;
    const unit = {
      active: isDown ? "failed" : "active",
      mainPid: isDown ? 0 : this.#pid,
      processState: order?.fault === "pause" ? "T" : "S",
      restarts: this.#pid - mainPid,
    };
    return {
      bootId: this.#bootId,
      wallMs: Date.now() + (order?.offsetSeconds ?? 0) * 1_000,
      bootMs: monotonicMs(),
      uncertaintyMs: 1,
      addresses: ["127.0.0.1"],
      units: Object.fromEntries(units.map((name) => [name, unit])),
      timeDaemon: undefined,
      freeBytes: Object.fromEntries(paths.map((path) => [path, order?.reserveBytes ?? 2 ** 40])),
      can: {
        ...{ kill: true, stop: true, pause: true, cut: true, clock: true, power: true },
        ...{ "fill-disk": true, "memory-limit": true },
      },
      running: this.#state === "running" || this.#state === "restoring" ? this.orders.at(-1)?.run : undefined,
    };
  }

  async reach(_peer: Peer): Promise<PeerAnswer> {
    return "answers";
  }

  async begin(order: DrillOrder): Promise<void> {
    const no = (reason: string) => new EscapementError("E_DRILL_REFUSED", { host: this.host, reason });
    if (this.#state === "running" || this.#state === "restoring") throw no("a drill is on");
    if (order.bootId !== this.#bootId) throw no("another boot");
    this.orders.push(order);
    this.#state = "running";
    this.#events = [];
    this.#end = new AbortController();
    this.#note("armed");
    this.#done = this.#perform(order);
  }

  async progress(run: string, afterSeq = 0): Promise<DrillProgress> {
    if (this.orders.at(-1)?.run !== run) return { state: "none", events: [] };
    return { state: this.#state, events: this.#events.filter(({ seq }) => seq > afterSeq) };
  }

  async halt(): Promise<{ halted: boolean; restoredMs: number }> {
    const startedMs = monotonicMs();
    const halted = this.#state === "running";
    this.#end.abort();
    await this.#done;
    return { halted, restoredMs: monotonicMs() - startedMs };
  }

  async audit(): Promise<ResidueAudit> {
    const fault = this.orders.at(-1)?.fault ?? "";
    return { residue: this.#inEffect ? [{ what: fault, detail: "in effect" }] : [], unseen: [] };
  }

  async close(): Promise<void> {}

  /** Until the drill, if one is on, has restored. */
  async idle(): Promise<void> {
    await this.#done;
  }

  async #perform(order: DrillOrder): Promise<void> {
    this.#inEffect = true;
    if (["kill", "memory-limit", "power"].includes(order.fault)) this.#pid += 1;
    if (order.fault === "power") this.#bootId = randomUUID();
    this.#note("injected", { fault: order.fault });
    this.#note("proof", {
      inEffect: true,
      ...{ active: order.keepDown ? "failed" : "active", receivedDropped: 1, sentDropped: 1 },
      offsetMs: (order.offsetSeconds ?? 0) * 1_000,
    });
    this.#note("holding");
    await sleep(order.holdSeconds * 1_000, this.#end.signal);
    this.#state = "restoring";
    this.#inEffect = false;
    this.#note("restored", { lifted: true });
    this.#note("audit", { residue: 0 });
    this.#note("ended", { residue: 0 });
    this.#state = "ended";
  }

  #note(event: DrillEvent["event"], detail: Detail = {}): void {
    const seq = this.#events.length + 1;
    this.#events.push({ seq, event, wallMs: Date.now(), bootMs: monotonicMs(), detail });
  }
}
