/** Everything the screens draw from. Each part says how old it is and what went wrong with it. */
import type { ExecutionRow } from "../../store/execution.ts";
import type { OperationRow } from "../../store/operation.ts";
import type { ClusterLook } from "../../store/ui/cluster-look.ts";
import type { AttemptLook, ShardLook } from "../../store/ui/execution-look.ts";
import type { AlertLook, ChecklistLook, DrillsLook, StoreSize } from "../../store/ui/records-look.ts";
import type { ReportLook } from "./checklist-items.ts";
import type { Inspection } from "./host-inspection.ts";
import type { JobsView } from "./jobs-view.ts";

/** A job, opened. */
export interface JobDetail {
  readonly jobId: number;
  /** Newest first, at most 200. */
  readonly executions: readonly ExecutionRow[];
  readonly operations: readonly OperationRow[];
}

export interface ExecutionDetail {
  readonly jobId: number;
  readonly fireMs: number;
  /** null: there is no such execution. */
  readonly execution: ExecutionRow | null;
  readonly shards: readonly ShardLook[];
  /** False until every shard has been read once. */
  readonly complete: boolean;
}

/** The end of a shard's log, or where it is. */
export interface ShardDetail {
  readonly jobId: number;
  readonly fireMs: number;
  readonly shardNo: number;
  readonly attempts: readonly AttemptLook[];
  readonly log: LogTail;
}

export interface LogTail {
  readonly lines: readonly string[];
  /** The file, or why there are no lines. */
  readonly from: string;
}

export interface Parts {
  readonly cluster: ClusterLook;
  readonly jobs: JobsView;
  /** Fires of today that are still to come. */
  readonly ahead: { readonly fires: number; readonly counted: number };
  readonly alerts: readonly AlertLook[];
  readonly drills: DrillsLook;
  readonly checklists: readonly ChecklistLook[];
  /** The checklist's report, from a file or a run that was started here. */
  readonly report: ReportLook;
  readonly size: StoreSize;
  /** Facts and drift of the inventory's hosts; none without an inventory. */
  readonly inspection: Inspection;
  readonly job: JobDetail;
  readonly execution: ExecutionDetail;
  readonly shard: ShardDetail;
}

export type PartName = keyof Parts;

export type Picture = {
  readonly [Name in PartName]?: {
    readonly value: Parts[Name];
    /** Monotonic milliseconds of its arrival. */
    readonly atMs: number;
  };
};

/** Whether the store answers. */
export interface StoreHealth {
  /** Why not; null while it does. */
  readonly down: string | null;
  readonly downSinceMs: number;
  readonly retryAtMs: number;
}
