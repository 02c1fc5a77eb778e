/** What a run has come to know; the report is made of it, however far it came. */
import type { DrillProof } from "../../spec/drill-definition.ts";
import type { DrillOrder } from "../host/drill-host.ts";
import type { PreflightItem } from "../plan/cluster-items.ts";
import type { DrillTargetHost } from "../plan/select-target.ts";
import type { HostAudit } from "./drill-report.ts";
import type { WatchedFault } from "./fault-scene.ts";
import type { FaultWatch } from "./fault-watch.ts";

export interface CourseNotes {
  preflight: readonly PreflightItem[];
  target: DrillTargetHost | null;
  order: DrillOrder | null;
  fault: WatchedFault | null;
  watch: FaultWatch | null;
  /** What must have been seen, of what the drill asks for. */
  asked: readonly DrillProof[];
  audits: HostAudit[];
  doubts: string[];
}

/** Of a run that has just begun. */
export function noNotes(): CourseNotes {
  return {
    preflight: [],
    target: null,
    order: null,
    fault: null,
    watch: null,
    asked: [],
    audits: [],
    doubts: [],
  };
}
