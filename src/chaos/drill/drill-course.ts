/** The stages of one run in their order, and what each leaves for the report. See run-drill.ts. */
import { EscapementError, messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { type DrillState, setDrillState } from "../../store/drill/drill-run.ts";
import { type ClusterSample, sampleCluster } from "../../store/drill/drill-sample.ts";
import type { DrillOrder } from "../host/drill-host.ts";
import { draftOrder } from "../plan/drill-order.ts";
import { type DrillTimes, drillTimes, leaseTimes } from "../plan/drill-times.ts";
import { selectTarget } from "../plan/select-target.ts";
import { askedProofs } from "./asked-proof.ts";
import { auditTarget } from "./audit-target.ts";
import { noNotes } from "./course-notes.ts";
import { type AimedFault, DrillLoad } from "./drill-load.ts";
import { DrillLog } from "./drill-log.ts";
import type { DrillResult } from "./drill-report.ts";
import { earlyHistory } from "./early-history.ts";
import { EvidenceBook } from "./evidence.ts";
import { FaultWatch } from "./fault-watch.ts";
import { judgeRun } from "./judge-run.ts";
import { preflight } from "./preflight.ts";
import { ReachWatch } from "./reach-watch.ts";
import { ReferenceClock } from "./reference-clock.ts";
import { type RunLease, runLeaseMs } from "./run-lease.ts";
import type { RunDrillOptions } from "./run-options.ts";
import { WatchedHost } from "./watched-host.ts";
import { writeReport } from "./write-report.ts";

const lookEveryMs = 2_000;

export class DrillCourse {
  readonly options: RunDrillOptions;
  readonly runId: string;
  readonly startedAt: Date;
  readonly times: DrillTimes;
  readonly log: DrillLog;
  readonly notes = noNotes();
  hosts: WatchedHost[] = [];
  /** Undefined before preflight. */
  book: EvidenceBook | undefined;
  readonly #lease: RunLease;
  #load: DrillLoad | undefined;
  #clock: ReferenceClock | undefined;
  #reach: ReachWatch | undefined;
  #restoredMs = 0;
  #limitMs = 0;

  constructor(options: RunDrillOptions, runId: string, startedAt: Date, lease: RunLease) {
    this.options = options;
    this.runId = runId;
    this.startedAt = startedAt;
    this.#lease = lease;
    const { variant, definition, cluster } = options;
    this.times = drillTimes(variant, definition.settle, leaseTimes(cluster));
    this.log = new DrillLog(options.say, () => this.#clock?.now() ?? startedAt.toISOString());
  }

  /** The host was given its order. */
  get begun(): boolean {
    return this.notes.order !== null;
  }

  async run(): Promise<DrillResult> {
    await this.#enter("preflight");
    const clock = await this.#preflight();
    await this.#enter("armed");
    const load = await DrillLoad.begin(this.options, this.runId, clock);
    this.#load = load;
    this.log.say(`${load.jobCount} probe jobs fire every ${this.options.definition.load.everyMs} ms`);
    if (!(await load.steady(this.#stops()))) return this.#end("the load did not reach a steady state");
    await this.#lookAround(clock);
    const aimed = await load.aim(this.#stops(), (sample) => this.#choose(sample, true));
    if (!aimed) return this.#end("no target came to run a shard of the drill's own work");
    await this.#strike(load, clock, aimed);
    const { fault } = this.notes;
    await this.#enter("settling");
    await this.#audit();
    if (fault?.halted !== undefined) return this.#end(`the fault was taken back early: ${fault.halted}`);
    if (fault?.state === "lost") this.notes.doubts.push("the host did not say how the run ended");
    if (!(await this.#settle())) return this.#end(this.#stopReason() ?? "interrupted");
    return judgeRun({
      course: this,
      load,
      restoredMs: this.#restoredMs,
      enter: (state) => this.#enter(state),
    });
  }

  /** Something went wrong with the run itself: what was broken is put right, and nothing is concluded. @param told somebody else says why */
  async broken(why: string, { told = false } = {}): Promise<DrillResult> {
    if (!told) this.log.say(why);
    if (this.begun && this.notes.audits.length === 0) await this.#audit();
    return this.#end(why);
  }

  /** For a person who cannot wait: what the host does by itself. */
  farewell(): string {
    const { order, fault } = this.notes;
    if (!order || (fault && fault.state !== "lost")) return "leaving; no fault is on";
    const leftS = Math.max(0, Math.ceil((this.#limitMs - monotonicMs()) / 1_000));
    return `leaving; ${order.host} restores itself within ${leftS} s, whatever happens here`;
  }

  async close(): Promise<void> {
    await this.#load?.close();
    await Promise.all(this.hosts.map((host) => host.door.close().catch(() => {})));
  }

  async #preflight(): Promise<ReferenceClock> {
    const { options } = this;
    const { db } = options;
    this.#clock = await ReferenceClock.read(db);
    this.book = new EvidenceBook(() => this.#clock!.now());
    this.hosts = await Promise.all(
      options.hosts.map(async (host) => new WatchedHost(host, await options.connectHost(host))),
    );
    const choice = this.#choose(await sampleCluster(db), false);
    const { hosts } = this;
    this.#reach = ReachWatch.of(options.variant, hosts);
    const question = { ...options, choice, hosts, clock: this.#clock, reach: this.#reach };
    const items = await preflight(question);
    this.notes.preflight = items;
    options.onPreflight?.(items);
    const wrong = items.filter(({ ok }) => ok === false);
    if (wrong.length > 0) {
      const reason = `must be so, and is not: ${wrong.map(({ what, detail }) => `${what} (${detail})`).join("; ")}`;
      const hints = new Set(wrong.flatMap((one) => (one.hint ? [`; ${one.hint}`] : [])));
      const hint = [...hints].join("");
      throw new EscapementError("E_DRILL_REFUSED", { host: options.cluster.name, reason, hint });
    }
    const unseen = items.filter(({ ok }) => ok === null);
    for (const { what, detail, hint } of unseen)
      this.log.say(`preflight: ${what}: ${detail}${hint === undefined ? "" : `; ${hint}`}`);
    this.log.say(`preflight: ${items.length - unseen.length} checks passed`);
    return this.#clock;
  }

  #choose(sample: ClusterSample, loaded: boolean) {
    const { variant, definition, hosts, named } = this.options;
    return selectTarget({
      variant,
      blastRadius: definition.blastRadius,
      hosts,
      roles: sample,
      named,
      loaded,
    });
  }

  /** What everything later is compared with. Taken before the aim: once an attempt has begun there is no time. */
  async #lookAround(clock: ReferenceClock): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.look(clock)));
    for (const host of this.hosts) host.settleOnFirst();
  }

  /** Gives the host its order and watches until it has restored. */
  async #strike(load: DrillLoad, clock: ReferenceClock, { target, before }: AimedFault): Promise<void> {
    const { options, runId, notes, times } = this;
    const { variant, db, definition, controller, virtualAddress } = options;
    const targetHost = this.hosts.find(({ name }) => name === target.host)!;
    const others = this.hosts.filter((host) => host !== targetHost);
    const { asked, spared } = askedProofs(variant.proof, virtualAddress, targetHost, others);
    const order: DrillOrder = {
      ...draftOrder(variant, target, times, options.hosts),
      run: runId,
      bootId: targetHost.first!.look.bootId,
    };
    const touched = [{ host: target.host, node: target.host, part: target.part }];
    // The store may be what goes away: nobody else may think the run abandoned meanwhile.
    if (target.part === "record-store") this.#lease.lengthen(times.limitMs + runLeaseMs);
    // The row names the host before the host is touched, or nobody could clean up after us.
    await setDrillState(db, runId, controller, "armed", touched);
    notes.target = target;
    notes.order = order;
    notes.asked = asked;
    for (const why of spared) this.log.say(why);
    this.#limitMs = monotonicMs() + times.limitMs;
    load.strike(target, before);
    this.log.say(
      `${order.fault} on ${target.host} for ${order.holdSeconds} s, at most ${order.limitSeconds} s`,
    );
    await targetHost.door.begin(order);
    const watch = new FaultWatch({
      definition,
      order,
      target,
      targetHost,
      others,
      virtualAddress,
      before,
      db,
      clock,
      book: this.book!,
      reach: this.#reach,
      stops: this.#stops(),
      say: (line) => this.log.say(line),
      onInjected: () => this.#enter("fault"),
      onRestoring: () => this.#enter("restoring"),
    });
    notes.watch = watch;
    notes.fault = await watch.run();
    this.#restoredMs = monotonicMs();
    load.restored();
  }

  async #audit(): Promise<void> {
    const { notes } = this;
    const host = this.hosts.find(({ name }) => name === notes.target?.host);
    if (!host) return;
    const audit = await auditTarget(host, notes.fault === null || notes.fault.state === "lost");
    notes.audits = [audit];
    for (const { what, detail } of audit.residue)
      this.log.say(`left behind on ${host.name}: ${what}: ${detail}`);
  }

  /** The probes go on for the settling time. False: somebody wants to stop. */
  async #settle(): Promise<boolean> {
    const settleMs = this.options.settleMs ?? this.times.settleMs;
    this.log.say(`settling for ${Math.round(settleMs / 1_000)} s`);
    const until = this.#restoredMs + settleMs;
    while (monotonicMs() < until) {
      if (this.#stopReason() !== undefined) return false;
      const { watch } = this.notes;
      await Promise.all([watch?.look(), watch?.sample(), watch?.reach()]);
      await sleep(Math.min(lookEveryMs, Math.max(0, until - monotonicMs())));
    }
    return true;
  }

  async #end(why: string): Promise<DrillResult> {
    const reason = this.#stopReason() ?? why;
    this.notes.doubts.push(reason);
    const load = this.notes.fault ? this.#load : undefined;
    return { report: writeReport(this, null), history: load ? await earlyHistory(this, load) : null };
  }

  #stops(): AbortSignal[] {
    return [this.options.signal, this.#lease.stop];
  }

  #stopReason(): string | undefined {
    const fired = this.#stops().find((signal) => signal.aborted);
    return fired && (typeof fired.reason === "string" ? fired.reason : "interrupted");
  }

  async #enter(state: Exclude<DrillState, "ended">): Promise<void> {
    const { db, controller, onState } = this.options;
    await onState?.(state);
    // A store that is away is no reason to stand still: the row is only for whoever looks.
    await setDrillState(db, this.runId, controller, state).catch((error) => this.log.say(messageOf(error)));
  }
}
