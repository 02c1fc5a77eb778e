/**
 * A drill as the rest of the program sees it: variants merged with what they
 * share, durations in milliseconds, sizes in bytes, plain JSON all through, so
 * that its digest says whether two runs were the same drill.
 */
import type { Position } from "./problem.ts";

/** What a drill stands for. The checklist asks how long ago each of the first four was passed. */
export const drillClasses = [
  "executor-killed",
  "network-cut",
  "clock-skewed",
  "primary-stopped",
  "executor-paused",
  "primary-paused",
  "store-killed",
  "disk-full",
  "memory-limited",
] as const;
export type DrillClass = (typeof drillClasses)[number];

/** Without a fresh pass of each of these nobody knows whether the cluster heals. */
export const mandatoryDrillClasses = [
  "executor-killed",
  "network-cut",
  "clock-skewed",
  "primary-stopped",
] as const satisfies readonly DrillClass[];

/** What the target is when the run begins; the leader is whoever holds the lease then. */
export const drillRoles = ["executor", "scheduler-leader", "scheduler-standby", "record-store"] as const;
export type DrillRole = (typeof drillRoles)[number];

export interface DrillTarget {
  readonly role: DrillRole;
  /** The target must run a shard at the moment of the fault: always so for executors. */
  readonly owning?: "running-shard";
}

/** The fault, in the words of the file. Which unit is meant follows from the target's role. */
export type DrillFault =
  /** SIGKILL, or a stop as an operator does it; `suppressed`: the unit may not start again until the restore. */
  | { readonly kind: "kill" | "stop"; readonly restart: "allowed" | "suppressed" }
  | { readonly kind: "pause" }
  /** The roles of `keep` stay reachable, besides the controller. */
  | {
      readonly kind: "cut";
      readonly direction: "both" | "receive";
      readonly keep: readonly ("watchman" | "record-store")[];
    }
  | { readonly kind: "clock"; readonly offsetSeconds: number }
  | { readonly kind: "power" }
  | { readonly kind: "fill-disk"; readonly path: string; readonly reserveBytes: number }
  | { readonly kind: "memory-limit"; readonly limitBytes: number };

/** Spans that the cluster file sets, by name: so that a drill fits a cluster with other leases, too. */
export const leaseSpans = ["executor-lease-and-reclaim", "scheduler-lease-and-retry"] as const;
export type LeaseSpan = (typeof leaseSpans)[number];

/** How long the fault stays: a time, or so many times what the cluster needs to notice. */
export type DrillHold =
  | { readonly ms: number }
  | { readonly times: number; readonly of: LeaseSpan; readonly atLeastMs: number };

/** What must be so before the fault, or the drill does not begin. */
export interface SteadyState {
  /** At least two schedulers live, and one that does not lead is ready. */
  readonly standbyHealthy: boolean;
  /** Of every host's clock against the database's. */
  readonly offsetBelowMs: number;
  /** Shards that wait and could run. */
  readonly backlogBelow: number;
  readonly noCriticalAlerts: boolean;
}

/** Work of the drill's own, which obligations are counted on. */
export interface DrillLoad {
  /** Probe jobs that fire side by side. */
  readonly jobs: number;
  readonly everyMs: number;
  readonly shards: number;
  /** How long one attempt of a shard takes. */
  readonly shardMs: number;
  /** So many fires must come due while the fault lasts, or the run proves nothing. */
  readonly obligations: number;
}

/** When a fault is taken back early. A halt always does. */
export interface AbortRules {
  /** Shards waiting. */
  readonly backlogOver: number;
  /** Any host but the target is not what it was at the beginning. */
  readonly otherHostUnhealthy: boolean;
  /** On the target; a drill that fills the disk is measured against its own reserve. */
  readonly freeBelowBytes: number;
}

/** What somebody must have seen while the fault lasted. */
export const proofKinds = [
  /** The main process of the beginning is gone. */
  "process-gone",
  /** It is stopped: state T. */
  "process-stopped",
  "unit-down",
  /** Packets were dropped, by the counters of the host's own table. */
  "packets-dropped",
  /** No answer to a probe that was answered before. */
  "unreachable",
  /** The clock is off by the offset, within the uncertainty of the trip. */
  "clock-offset",
  /** Another boot than before. */
  "rebooted",
  "disk-full",
  "memory-limited",
  /** The lease of the executor, or of the leader, has ended in the records. */
  "lease-ended",
  /** Another scheduler leads, with a higher epoch. */
  "leader-moved",
  /** Another host has the virtual address that the target had. Asked for only where the target has it before. */
  "address-moved",
  /** The record store did not answer. */
  "store-gone",
] as const;
export type ProofKind = (typeof proofKinds)[number];

/** Who saw it: the target itself, another host of the cluster, the controller, the records. */
export const proofObservers = ["target", "another-host", "controller", "records"] as const;
export type ProofObserver = (typeof proofObservers)[number];

/** At least one proof of a drill is from somebody other than the target. */
export interface DrillProof {
  readonly see: ProofKind;
  readonly from: ProofObserver;
}

export interface SettleRules {
  /** From the restore on; longer where leases, reclaim or twice the hold of a cut are longer. */
  readonly minimumMs: number;
  /** Equal reads in a row, this far apart. */
  readonly quietReads: number;
  readonly readEveryMs: number;
  /** Not quiet by then: unknown. */
  readonly deadlineMs: number;
}

/** What else must be so for a pass, besides a clean comparison and no residue. Not given: not asked. */
export interface PassRules {
  /** Classes of the checker's findings that do not fail the drill; of a sound cluster none. */
  readonly allowedFailures: readonly string[];
  /** Attempts of a former holder that the fence must have refused. */
  readonly refusedStaleWrites: number;
  /** Of every fire: a first start later than this is late, unless it is marked as a misfire. */
  readonly startWithinMs?: number;
  /** From the fault until another scheduler leads, or another executor has taken the shard. */
  readonly takeoverWithinMs?: number;
  /** From the fault (suppressed: from the restore) until the unit runs again. */
  readonly restartedWithinMs?: number;
  /** Of the target's clock after the restore. */
  readonly offsetBelowMs?: number;
  /** The comparison of all clocks names the target and nobody else. */
  readonly culpritNamed: boolean;
}

export interface BlastRadius {
  /** Always 1, and never both schedulers: written so that a reader sees it. */
  readonly hosts: 1;
  /** The record store may be the target. */
  readonly recordStore: boolean;
  /** A drill on the timetable does not begin this close to a peak day. */
  readonly awayFromPeakMs: number;
}

/** One fault of a drill. A drill with several runs them one after the other, each with its own verdict. */
export interface DrillVariant {
  readonly name: string;
  readonly target: DrillTarget;
  readonly fault: DrillFault;
  readonly hold: DrillHold;
  /** How long after the hold the dead-men put the host back, whatever happened. */
  readonly limitAfterHoldMs: number;
  readonly proof: readonly DrillProof[];
  readonly pass: PassRules;
}

export interface DrillDefinition {
  readonly name: string;
  readonly class: DrillClass;
  readonly description: string;
  readonly steadyState: SteadyState;
  readonly load: DrillLoad;
  readonly abort: AbortRules;
  readonly settle: SettleRules;
  readonly blastRadius: BlastRadius;
  /** At least one; names are unique in the drill. */
  readonly variants: readonly DrillVariant[];
}

export interface ResolvedDrill extends Position {
  readonly definition: DrillDefinition;
  /** SHA-256 of the canonical JSON of the definition. */
  readonly digest: string;
}
