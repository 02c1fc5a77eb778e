/** What a run of a drill gives back: plain data, the same that report.json holds. */
import type { DrillClass, ProofKind, ProofObserver } from "../../spec/drill-definition.ts";
import type { DrillOutcome } from "../../store/drill/drill-run.ts";
import type { Verdict } from "../checker.ts";
import type { History } from "../history.ts";
import type { DrillEvent, DrillOrder, Residue } from "../host/drill-host.ts";
import type { PreflightItem } from "../plan/cluster-items.ts";
import type { DrillTargetHost } from "../plan/select-target.ts";

/** Something that somebody saw while the fault lasted. */
export interface Evidence {
  readonly see: ProofKind;
  readonly from: ProofObserver;
  readonly detail: string;
  /** RFC 3339, by the controller's reckoning of the database's time. */
  readonly at: string;
}

/** What the drill itself asks for, besides what the checker finds. */
export type DrillFailureClass =
  | "takeover-late"
  | "restart-late"
  | "clock-left-off"
  | "culprit-not-named"
  | "residue"
  | "not-restored";

export interface DrillFailure {
  readonly class: DrillFailureClass;
  readonly detail: string;
}

/** A clock compared with the controller's reckoning of the database's time from before the fault. */
export interface ClockPoint {
  readonly at: string;
  /** A host, or `database`. */
  readonly clock: string;
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}

export interface HostAudit {
  readonly host: string;
  readonly residue: readonly Residue[];
  readonly unseen: readonly string[];
}

/** Times that the run measured; null: it did not come to that, or nobody saw it. */
export interface DrillMeasures {
  /** From the fault to a new leader, or until another executor had the shards. */
  readonly takeoverMs: number | null;
  /** From the fault, or from the restore of a unit that was kept down, until the unit ran again. */
  readonly restartedMs: number | null;
  readonly offsetAfterMs: number | null;
  /** Clocks that the comparison of all of them names. */
  readonly culprits: readonly string[];
  readonly staleWritesRefused: number;
}

export interface DrillReport {
  readonly runId: string;
  readonly drill: string;
  readonly variant: string;
  readonly class: DrillClass;
  readonly digest: string;
  readonly version: string;
  readonly person: string;
  readonly trigger: "manual" | "schedule";
  readonly verdict: DrillOutcome;
  /** Why, in one sentence. */
  readonly reason: string;
  readonly target: DrillTargetHost | null;
  readonly order: DrillOrder | null;
  /** RFC 3339, database time. */
  readonly startedAt: string;
  readonly faultAt: string | null;
  readonly restoredAt: string | null;
  readonly endedAt: string;
  readonly preflight: readonly PreflightItem[];
  readonly evidence: readonly Evidence[];
  /** Proofs that the definition asks for and nobody saw. */
  readonly unproven: readonly string[];
  readonly failures: readonly DrillFailure[];
  readonly unknown: readonly string[];
  readonly audits: readonly HostAudit[];
  readonly measures: DrillMeasures;
  /** Null when it did not come to a judgement. */
  readonly judged: Verdict | null;
  readonly clocks: readonly ClockPoint[];
  /** The host's own record. */
  readonly events: readonly DrillEvent[];
  /** What the controller did, line by line. */
  readonly log: readonly { readonly at: string; readonly line: string }[];
}

/** Report and history belong together; the history can be judged again. */
export interface DrillResult {
  readonly report: DrillReport;
  readonly history: History | null;
}
