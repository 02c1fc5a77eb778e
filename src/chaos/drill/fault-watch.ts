/**
 * Watches a fault from the order to the restore. The host does it by itself;
 * here it is only seen, proven, and taken back early when a rule or a person
 * asks for it.
 *
 *   begun ──▶ holding ──▶ restored ──▶ ended
 *                └── halt (abort rule, person, stop switch) ──▲
 *   lost: the host did not say what became of it
 */
import { isEscapementError, messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { type ClusterSample, sampleCluster } from "../../store/drill/drill-sample.ts";
import type { DrillEvent } from "../host/drill-host.ts";
import type { ClockPoint } from "./drill-report.ts";
import type { FaultScene, WatchedFault } from "./fault-scene.ts";
import type { WatchedHost } from "./watched-host.ts";

const everyMs = 1_000;
/** Looks at all hosts cost a trip each. */
const lookEvery = 2;
/** After the dead-men's limit, until the host must have said something. */
const graceMs = 60_000;

export class FaultWatch {
  readonly clocks: ClockPoint[] = [];
  /** When another scheduler was first seen leading. */
  leaderMovedAtMs: number | null = null;
  /** When the unit was first seen running with another process. */
  restartedAtMs: number | null = null;
  /** The comparison of all clocks named somebody while the fault lasted. */
  readonly comparisons: ClockPoint[][] = [];
  readonly #scene: FaultScene;
  readonly #events: DrillEvent[] = [];
  #faultAtMs: number | null = null;
  #halted: string | undefined;
  #haltDone = false;
  #saidProof = false;
  #isRestoring = false;
  #backlog = 0;

  constructor(scene: FaultScene) {
    this.#scene = scene;
  }

  /** Until the host says that the run has ended, or must have said it long ago. */
  async run(): Promise<WatchedFault> {
    const { order, targetHost } = this.#scene;
    const deadline = monotonicMs() + order.limitSeconds * 1_000 + graceMs;
    // A host that does not answer holds up whoever asks it, and must not hold up the look at the records.
    const over = new AbortController();
    const beside = [
      this.#keep(() => this.sample(), over.signal),
      this.#keep(() => this.reach(), over.signal),
    ];
    try {
      return await this.#watch(targetHost, deadline);
    } finally {
      over.abort();
      await Promise.all(beside);
    }
  }

  async #keep(looking: () => Promise<unknown>, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await looking();
      await sleep(everyMs, over);
    }
  }

  async #watch(targetHost: WatchedHost, deadline: number): Promise<WatchedFault> {
    for (let pass = 0; ; pass++) {
      const state = await this.#follow();
      if (state === "ended") return this.#outcome("ended");
      if (state === "lost" || monotonicMs() > deadline) return this.#outcome("lost");
      if (pass % lookEvery === 0) await this.look();
      this.#halted ??= this.#stopReason() ?? this.#rule();
      if (this.#halted !== undefined && !this.#haltDone) await this.#halt(targetHost);
      await sleep(everyMs);
    }
  }

  /** One look at the records. */
  async sample(): Promise<ClusterSample | undefined> {
    const { db, order, target, before, book, clock } = this.#scene;
    try {
      const sample = await sampleCluster(db);
      const { leader } = sample;
      if (this.#faultAtMs !== null) book.noteSample(order, target, before, sample);
      // A host without power tells of its fault only when it is back: this may be long before that.
      const moved = leader.epoch > before.leader.epoch && leader.node !== before.leader.node;
      if (leader.alive && moved) this.leaderMovedAtMs ??= clock.nowMs();
      this.#backlog = sample.backlog;
      return sample;
    } catch (error) {
      // A store that answers, be it with an error, is there.
      const gone = isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
      if (gone && this.#faultAtMs !== null) book.note("store-gone", "controller", messageOf(error));
      return undefined;
    }
  }

  /** Whether others reach the target: in the fault, and again after it. */
  async reach(): Promise<void> {
    const { reach, targetHost, book, clock } = this.#scene;
    if (this.#faultAtMs === null) return;
    if (this.#events.some(({ event }) => event === "restored")) await reach?.after(targetHost, book);
    else await reach?.during(targetHost, () => clock.now());
  }

  /** One look at every host, and at everybody's clock. */
  async look(): Promise<void> {
    const { order, targetHost, others, clock, book, db, virtualAddress } = this.#scene;
    const paths = order.path === undefined ? ["/"] : [order.path];
    const points: ClockPoint[] = [];
    const note = (name: string, atMs: number, offsetMs: number, uncertaintyMs: number) =>
      points.push({ at: new Date(atMs).toISOString(), clock: name, offsetMs, uncertaintyMs });
    const one = async (host: WatchedHost) => {
      try {
        const seen = await host.look(clock, host === targetHost ? paths : []);
        note(host.name, seen.atMs, seen.offsetMs, seen.uncertaintyMs);
      } catch {
        // A host that does not answer proves nothing by that.
      }
    };
    const database = async () => {
      const seen = await clock.databaseOffset(db).catch(() => undefined);
      if (seen) note("database", clock.nowMs(), seen.offsetMs, seen.uncertaintyMs);
    };
    await Promise.all([one(targetHost), ...others.map(one), database()]);
    this.clocks.push(...points);
    if (this.#faultAtMs === null) return;
    this.comparisons.push(points);
    book.noteLook(order, targetHost, others);
    if (virtualAddress !== undefined) book.noteAddress(virtualAddress, targetHost, others);
    this.#noteRestart();
  }

  async #follow(): Promise<"running" | "ended" | "lost"> {
    const { targetHost, order, say, onInjected, clock, book } = this.#scene;
    try {
      const progress = await targetHost.door.progress(order.run, this.#events.at(-1)?.seq ?? 0);
      for (const event of progress.events) {
        this.#events.push(event);
        // The host measures again and again; people want to know it once.
        if (event.event !== "proof" || !this.#saidProof)
          say(`${order.host}: ${event.event}${wordsOf(event)}`);
        this.#saidProof ||= event.event === "proof" && event.detail.inEffect === true;
        if (event.event === "injected" && this.#faultAtMs === null) {
          this.#faultAtMs = targetHost.whenMs(event.bootMs) ?? clock.nowMs();
          await onInjected(this.#faultAtMs);
        }
      }
      book.noteEvents(order, progress.events);
      if (progress.state === "restoring" || progress.events.some(({ event }) => event === "restored"))
        await this.#restoring();
      if (progress.state === "ended" || progress.state === "lost") return progress.state;
      // A host that knows nothing of the run any more has put itself right, or was reset.
      return progress.state === "none" && this.#events.length > 0 ? "lost" : "running";
    } catch (error) {
      say(`${order.host} does not answer: ${messageOf(error)}`);
      return "running";
    }
  }

  #stopReason(): string | undefined {
    const fired = this.#scene.stops.find((signal) => signal.aborted);
    return fired && (typeof fired.reason === "string" ? fired.reason : "interrupted");
  }

  #rule(): string | undefined {
    const { definition, others, targetHost, order } = this.#scene;
    const { abort } = definition;
    if (this.#backlog > abort.backlogOver)
      return `${this.#backlog} shards wait; more than ${abort.backlogOver} are not allowed`;
    if (abort.otherHostUnhealthy) {
      const sick = others.flatMap((host) => host.unhealthy())[0];
      if (sick) return sick;
    }
    if (order.fault === "fill-disk") return undefined;
    const free = Object.entries(targetHost.last?.look.freeBytes ?? {});
    const low = free.find(([, bytes]) => bytes < abort.freeBelowBytes);
    return low && `${low[1]} bytes are free in ${low[0]} of ${order.host}`;
  }

  async #restoring(): Promise<void> {
    if (this.#isRestoring) return;
    this.#isRestoring = true;
    await this.#scene.onRestoring();
  }

  async #halt(host: WatchedHost): Promise<void> {
    const { say } = this.#scene;
    say(`taking it back: ${this.#halted}`);
    try {
      // Side by side: the store may be what is away, and the note of it must not hold up the host.
      const [{ restoredMs }] = await Promise.all([host.door.halt(), this.#restoring()]);
      this.#haltDone = true;
      say(`${host.name}: restored in ${Math.round(restoredMs)} ms`);
    } catch (error) {
      say(`${host.name} cannot be halted yet: ${messageOf(error)}`);
    }
  }

  #noteRestart(): void {
    const { order, targetHost } = this.#scene;
    const [was, is] = [targetHost.first, targetHost.last].map((seen) => seen?.look.units[order.unit ?? ""]);
    if (!was || !is || is.active !== "active" || is.mainPid <= 0) return;
    if (is.mainPid === was.mainPid && targetHost.first!.look.bootId === targetHost.last!.look.bootId) return;
    this.restartedAtMs ??= targetHost.last!.atMs;
  }

  #outcome(state: "ended" | "lost"): WatchedFault {
    const { targetHost, clock } = this.#scene;
    const restored = this.#events.find(({ event }) => event === "restored");
    // Its time since boot began anew: that says nothing about how long ago it was.
    const dated = restored?.detail.rebooted === true ? undefined : restored;
    return {
      state,
      events: this.#events,
      faultAtMs: this.#faultAtMs,
      restoredAtMs: restored ? ((dated && targetHost.whenMs(dated.bootMs)) ?? clock.nowMs()) : null,
      halted: this.#halted ?? abortOf(this.#events),
    };
  }
}

function abortOf(events: readonly DrillEvent[]): string | undefined {
  const abort = events.find(({ event }) => event === "abort");
  return abort && `the host took it back:${wordsOf(abort)}`;
}

function wordsOf({ detail }: DrillEvent): string {
  const words = Object.entries(detail).map(([key, value]) => `${key} ${value}`);
  return words.length > 0 ? ` (${words.join(", ")})` : "";
}
