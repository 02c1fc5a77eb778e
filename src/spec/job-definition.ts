/**
 * A job as the rest of the program sees it: checked, merged with its policy
 * set, durations in milliseconds, sizes in bytes, plain JSON all through. This
 * is the document the record store keeps with every applied version, so a
 * field may be added here, never renamed.
 */

/** When a job fires. `manual` has no fires of its own: only a person runs it. */
export type Schedule =
  | { readonly kind: "cron"; readonly cron: string }
  | { readonly kind: "every"; readonly everyMs: number }
  | { readonly kind: "manual" };

/** A local time that does not exist: fire at the transition, or not at all. */
export type DstGap = "run-at-transition" | "skip";
/** A local time that exists twice: fire on the first, the second, or both. */
export type DstOverlap = "first" | "second" | "both";

/** The business period an execution is for: the fire's local month or day, moved by `offset` (−1 = the one before). */
export interface Period {
  readonly unit: "month" | "day";
  readonly offset: number;
}

/**
 * What happens to a fire that was not started within `thresholdMs` of its time:
 * run it at once, record it as missed, or run it only up to `windowMs` late.
 */
export type Misfire =
  | { readonly policy: "run-now"; readonly thresholdMs: number }
  | { readonly policy: "skip"; readonly thresholdMs: number }
  | { readonly policy: "within-window"; readonly thresholdMs: number; readonly windowMs: number };

/** What happens when a fire comes due while an earlier execution of the job is not finished. */
export type Blocking =
  | { readonly policy: "queue"; readonly maxQueued: number }
  | { readonly policy: "forbid" }
  | { readonly policy: "replace" }
  | { readonly policy: "allow" };

/** How many misfired fires may run later (0 = none), and which ones when there are more. */
export interface CatchUp {
  readonly maxFires: number;
  readonly keep: "oldest" | "newest";
}

/** `maxAttempts` counts every try but interrupted ones; `delaysMs[n - 1]` follows attempt n, the last one repeats. */
export interface Retry {
  readonly maxAttempts: number;
  readonly delaysMs: readonly number[];
}

/**
 * How an execution is cut. `heavy` keys get shards of their own, numbered after
 * the `count` ordinary ones in the order written. Always by a business key,
 * never by row offset.
 */
export type Shards =
  | { readonly by: "none" }
  | { readonly by: "hash"; readonly count: number; readonly key: string; readonly heavy: readonly string[] }
  | {
      readonly by: "keys";
      readonly count: number;
      readonly keys: readonly string[];
      readonly heavy: readonly string[];
    }
  | { readonly by: "frozen"; readonly count: number; readonly freeze: readonly string[] };

export type ResourceClass = "cpu" | "memory" | "io" | "control";

/** What one attempt of one shard needs of a host. */
export interface Resources {
  readonly class: ResourceClass;
  readonly peakMemoryBytes: number;
}

/** One thing the job changes. `sources` are paths of the code that changes it. */
export interface Effect {
  readonly kind: "table" | "message" | "http";
  readonly target: string;
  readonly key: readonly string[];
  readonly mode: "insert" | "replace" | "state";
  readonly sources: readonly string[];
}

/** When the record store cannot be reached: kill the attempt, or let it end and let the fence judge its last write. */
export type OnStoreLoss = "kill" | "continue-fenced";

export interface JobDefinition {
  readonly namespace: string;
  readonly name: string;
  /** The name this job had before, in the same namespace. */
  readonly ancestor?: string;
  readonly description?: string;
  /** Path from the root of the repository, with `#section`, or an address. */
  readonly docs?: string;
  /** Program and arguments; no shell. */
  readonly command: readonly string[];
  /** Absent: a folder of the attempt's own. Relative: to where the executor was started. */
  readonly workingDirectory?: string;
  /** A user of the host; absent: escapement-job in a scope, else the executor's own. */
  readonly runAs?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly schedule: Schedule;
  /** IANA name. */
  readonly timeZone: string;
  /** Present wherever the schedule is cron and the zone has transitions ahead. */
  readonly dstGap?: DstGap;
  readonly dstOverlap?: DstOverlap;
  readonly period?: Period;
  readonly misfire: Misfire;
  readonly blocking: Blocking;
  readonly catchUp: CatchUp;
  readonly retry: Retry;
  /** The longest time a dead executor may keep a shard of this job from the others. */
  readonly leaseMs: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly shards: Shards;
  readonly resources: Resources;
  /** Empty: the job changes nothing. */
  readonly effects: readonly Effect[];
  readonly onStoreLoss: OnStoreLoss;
}
