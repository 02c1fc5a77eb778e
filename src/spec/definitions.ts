/** What the files come to: definitions with the place each was written. */
import type { ClusterDefinition } from "./cluster-definition.ts";
import type { JobDefinition } from "./job-definition.ts";
import type { Position, Problem } from "./problem.ts";

/** A job, checked and merged with its policy set; the position is that of its document. */
export interface ResolvedJob extends Position {
  readonly definition: JobDefinition;
  /** SHA-256 of the canonical JSON of the definition. */
  readonly digest: string;
}

export interface ResolvedCluster extends Position {
  readonly definition: ClusterDefinition;
}

/** Definitions that are right, and problems of those that are not: one does not hide the other. */
export interface Resolution {
  readonly jobs: readonly ResolvedJob[];
  readonly clusters: readonly ResolvedCluster[];
  readonly problems: readonly Problem[];
}

/**
 * Says what is wrong with a schedule, or null. Passed in by the caller, because
 * the evaluator of schedules stands on a higher level than this folder.
 */
export type ValidateSchedule = (
  job: Pick<JobDefinition, "schedule" | "timeZone" | "dstGap" | "dstOverlap">,
) => string | null;
