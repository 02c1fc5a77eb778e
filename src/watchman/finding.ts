/** What a rule has found: something that should be true now and is not. */

/** Every rule, in the order in which a person should read them. */
export const ruleNames = [
  "store-unreachable",
  "no-leader",
  "two-virtual-address-holders",
  "missing-success",
  "not-opened",
  "fire-gap",
  "deadline-at-risk",
  "retry-exhausted",
  "stuck-running",
  "reclaim-loop",
  "late-start",
  "no-executor",
  "executor-silent",
  "scheduler-silent",
  "no-virtual-address-holder",
  "time-zone-mismatch",
  "clock-offset",
  "clock-step",
  "clock-source",
  "time-source",
  "definition-changed",
  "schedule-unreadable",
  "schedule-edited",
  "fast-finish",
  "few-rows",
  "long-duration",
  "backlog-growing",
  "records-not-growing",
  "replica-behind",
  "xmin-held",
  "store-full",
  "store-disk",
  "rule-failed",
] as const;

export type RuleName = (typeof ruleNames)[number];

export type Severity = "info" | "warning" | "critical";

/**
 * One finding. Findings of one pass are compared with those of the pass before
 * by `key` alone: the same key is the same trouble, however its numbers change.
 */
export interface Finding {
  readonly rule: RuleName;
  /** Stable for as long as the trouble lasts: rule, job and fire time, or rule and node. */
  readonly key: string;
  readonly severity: Severity;
  readonly jobId?: number;
  /** `namespace/name`. */
  readonly job?: string;
  readonly fireTime?: Date;
  /** One sentence for a person. */
  readonly message: string;
  /** Plain JSON: the rows and numbers it was judged by. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Findings with one cause are one alert: `store`, `no-leader`, `no-executor`, `executor:NODE`, `clock:NODE`. */
  readonly cause?: string;
  /** The next command to type. */
  readonly hint: string;
}
