/** What a diagnosis says about one fire. */

/** The ways in which a fire goes wrong, in the order in which a person should read them. */
export const failureClasses = [
  "never-fired",
  "duplicate",
  "partial",
  "interrupted",
  "shard-failed",
  "blocked",
  "late",
] as const;

export type FailureClass = (typeof failureClasses)[number];

/** Why, as far as the records tell. */
export const causes = [
  "no-leader",
  "no-executor",
  "executors-busy",
  "store-outage",
  "clock-step",
  "lease-lost",
  "oom-kill",
  "timeout",
  "executor-stopped",
  "deploy-overlap",
  "lock-wait",
  "cannot-start",
  "job-error",
  "earlier-run",
  "period-taken",
  "chain-broken",
  "paused",
  "edited",
  "deleted",
  "cancelled",
  "replaced",
  "manual-run",
  "unrepeatable-call",
  "record-missing",
  "bad-definition",
  "unknown",
] as const;

export type Cause = (typeof causes)[number];

/** A row of the records that the verdict rests on. */
export interface Evidence {
  /** The table, or `definition` for a fire that no table holds. */
  readonly from: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface Diagnosis {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly fireTime: Date;
  readonly class: FailureClass;
  /** What it is besides. */
  readonly also: readonly FailureClass[];
  readonly cause: Cause;
  /** False: the records allow another explanation. */
  readonly certain: boolean;
  /** Somebody decided it so: a pause, a cancellation, a policy that skips. */
  readonly intended: boolean;
  /** One or two sentences for a person. */
  readonly text: string;
  readonly evidence: readonly Evidence[];
  /** The next command to type. */
  readonly next: string;
}
