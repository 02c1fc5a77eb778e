/**
 * What was seen while the fault lasted, and by whom. The host's own word is one
 * witness; every drill also asks for another: a look from outside, the clocks of
 * others, or the records.
 */
import { canonicalAddress } from "../../base/canonical-address.ts";
import type { DrillProof, ProofKind, ProofObserver } from "../../spec/drill-definition.ts";
import type { ClusterSample } from "../../store/drill/drill-sample.ts";
import type { DrillEvent, DrillOrder } from "../host/drill-host.ts";
import type { DrillTargetHost } from "../plan/select-target.ts";
import type { Evidence } from "./drill-report.ts";
import type { SeenHost, WatchedHost } from "./watched-host.ts";

/** A clock may be this far from where the fault put it, beyond what the look may be wrong by. */
const clockSlackMs = 2_000;
/** What the cluster does about the loss of its leader: what is missing of it says nothing against the fault. */
const answers: readonly ProofKind[] = ["leader-moved", "address-moved"];
/** A file system filled up to its reserve may have this much more. */
const diskSlackBytes = 8 * 2 ** 20;

export class EvidenceBook {
  readonly list: Evidence[] = [];
  readonly #now: () => string;

  /** @param now the instant that evidence is noted with */
  constructor(now: () => string) {
    this.#now = now;
  }

  /** Notes it the first time only. @param at where it was seen before it could be noted */
  note(see: ProofKind, from: ProofObserver, detail: string, at = this.#now()): void {
    if (!this.has({ see, from })) this.list.push({ see, from, detail, at });
  }

  has({ see, from }: DrillProof): boolean {
    return this.list.some((one) => one.see === see && one.from === from);
  }

  /**
   * What was asked for and not seen while the fault lasted.
   * @param restoredAtMs by the same reckoning as `now`; null: nobody knows
   */
  missing(
    wanted: readonly DrillProof[],
    fault: DrillOrder["fault"],
    restoredAtMs: number | null,
  ): DrillProof[] {
    const inTime = ({ see, from, at }: Evidence) =>
      // The host writes down when it measured, whenever that is read; a reset is seen when it is over.
      from === "target" ||
      fault === "power" ||
      see === "rebooted" ||
      Date.parse(at) <= (restoredAtMs ?? Infinity);
    return wanted.filter(
      (proof) => !this.list.some((one) => one.see === proof.see && one.from === proof.from && inTime(one)),
    );
  }

  /** The fault was there, whatever the cluster made of it: only its answer is missing, and the records saw the leader go. */
  isInEffect(missing: readonly DrillProof[]): boolean {
    if (missing.length === 0) return true;
    return (
      missing.every(({ see }) => answers.includes(see)) && this.has({ see: "lease-ended", from: "records" })
    );
  }

  /** The host's own record: what it measured after it had injected the fault. */
  noteEvents(order: DrillOrder, events: readonly DrillEvent[]): void {
    for (const { event, detail } of events) {
      if (event !== "proof") continue;
      const words = Object.entries(detail)
        .map(([key, value]) => `${key} ${value}`)
        .join(", ");
      for (const see of ownProofs(order, detail)) this.note(see, "target", words);
    }
  }

  /** The target as a look from outside shows it, against the look before the fault. */
  noteLook(order: DrillOrder, target: WatchedHost, others: readonly WatchedHost[]): void {
    const { first, last } = target;
    if (!first || !last || first === last) return;
    const { look } = last;
    if (look.bootId !== first.look.bootId) this.note("rebooted", "controller", `boot ${look.bootId}`);
    const was = order.unit === undefined ? undefined : first.look.units[order.unit];
    const is = order.unit === undefined ? undefined : look.units[order.unit];
    if (was && is) this.#noteUnit(order, was, is);
    if (order.offsetSeconds !== undefined) this.#noteClock(order.offsetSeconds * 1_000, target, others);
    const free = order.path === undefined ? undefined : look.freeBytes[order.path];
    if (free !== undefined && free <= (order.reserveBytes ?? 0) + diskSlackBytes)
      this.note("disk-full", "controller", `${free} bytes are free`);
  }

  /** Who has the virtual address now and had it not before, where the target had it. */
  noteAddress(address: string, target: WatchedHost, others: readonly WatchedHost[]): void {
    if (!holds(target.first, address)) return;
    for (const { name, first, last } of others)
      if (!holds(first, address) && holds(last, address))
        this.note("address-moved", "another-host", `${name} has ${address}, which ${target.name} had`);
  }

  #noteUnit({ fault }: DrillOrder, was: UnitState, is: UnitState): void {
    // The host's program says so where systemd did not tell it anything.
    if (is.active === "unknown") return;
    const gone = `main process ${was.mainPid}, now ${is.mainPid || "none"}`;
    if (was.mainPid > 0 && is.mainPid !== was.mainPid) this.note("process-gone", "controller", gone);
    if (is.active !== "active") this.note("unit-down", "controller", is.active);
    if (is.processState === "T")
      this.note("process-stopped", "controller", `process ${is.mainPid} is stopped`);
    if (fault === "memory-limit" && is.restarts > was.restarts)
      this.note("memory-limited", "controller", `${is.restarts} restarts`);
  }

  #noteClock(wantedMs: number, target: WatchedHost, others: readonly WatchedHost[]): void {
    const [first, last] = [target.first!, target.last!];
    const moved = last.offsetMs - first.offsetMs;
    const slack = clockSlackMs + last.uncertaintyMs + first.uncertaintyMs;
    if (Math.abs(moved - wantedMs) <= slack)
      this.note("clock-offset", "controller", `${Math.round(moved)} ms against the controller's reckoning`);
    for (const { name, last: other } of others) {
      if (!other || Math.abs(last.offsetMs - other.offsetMs - wantedMs) > slack + other.uncertaintyMs)
        continue;
      const detail = `${Math.round(last.offsetMs - other.offsetMs)} ms against the clock of ${name}`;
      this.note("clock-offset", "another-host", detail);
    }
  }

  /** The records, against those from before the fault. */
  noteSample(order: DrillOrder, target: DrillTargetHost, before: ClusterSample, now: ClusterSample): void {
    const { leader } = now;
    if (leader.alive && leader.epoch > before.leader.epoch && leader.node !== before.leader.node)
      this.note("leader-moved", "records", `${before.leader.node} → ${leader.node}, epoch ${leader.epoch}`);
    if (target.part === "scheduler" && target.host === before.leader.node && !leader.alive)
      this.note("lease-ended", "records", `the lease of ${target.host} as the leader has ended`);
    for (const was of before.executors.filter(({ node, expired }) => node === target.host && !expired)) {
      const is = now.executors.find(({ incarnation }) => incarnation === was.incarnation);
      if (is && !is.expired && is.state !== "reaped") continue;
      const how = is ? (is.state === "reaped" ? "declared dead" : "not renewed") : "replaced";
      this.note("lease-ended", "records", `the lease of ${was.incarnation} on ${was.node}: ${how}`);
      if (is?.state === "reaped" || !is) this.note("process-gone", "records", `${was.incarnation} ${how}`);
      this.note("unreachable", "records", `${was.node} has not been heard of`);
    }
    if (order.offsetSeconds !== undefined) this.#noteMeasured(order.offsetSeconds * 1_000, target, now);
  }

  /** What the cluster's own processes measured of their clocks. */
  #noteMeasured(wantedMs: number, target: DrillTargetHost, { executors, schedulers }: ClusterSample): void {
    for (const { node, offsetMs } of [...executors, ...schedulers]) {
      if (node !== target.host || offsetMs === null || Math.abs(offsetMs - wantedMs) > clockSlackMs) continue;
      this.note("clock-offset", "records", `${node} measured ${Math.round(offsetMs)} ms`);
    }
  }
}

/** The host had the address when it was looked at. */
export function holds(seen: SeenHost | undefined, address: string): boolean {
  const wanted = canonicalAddress(address);
  return seen?.look.addresses.some((one) => canonicalAddress(one) === wanted) ?? false;
}

interface UnitState {
  readonly active: string;
  readonly mainPid: number;
  readonly processState: string;
  readonly restarts: number;
}

/** What the host's own measurement proves, by the kind of fault; a measurement that shows nothing proves nothing. */
function ownProofs({ fault, offsetSeconds }: DrillOrder, detail: DrillEvent["detail"]): ProofKind[] {
  if (detail.inEffect !== true) return [];
  switch (fault) {
    case "kill":
    case "stop":
      return detail.active === "active" ? ["process-gone"] : ["process-gone", "unit-down"];
    case "pause":
      return ["process-stopped"];
    case "cut":
      return Number(detail.receivedDropped ?? 0) + Number(detail.sentDropped ?? 0) > 0
        ? ["packets-dropped"]
        : [];
    case "clock":
      return Math.abs(Number(detail.offsetMs) - (offsetSeconds ?? 0) * 1_000) <= clockSlackMs
        ? ["clock-offset"]
        : [];
    case "fill-disk":
      return ["disk-full"];
    case "memory-limit":
      return ["memory-limited"];
    case "power":
      return ["rebooted"];
  }
}
