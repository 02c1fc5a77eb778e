/** The fields that every job must have, itself or through its policy set. None has a default, each for a reason. */
import type { PolicyField } from "./policy-schema.ts";

export interface RequiredPolicy {
  readonly field: PolicyField;
  /** What may be written, as it is written. */
  readonly choices: readonly string[];
  /** Why nobody but the author of the job can decide it. */
  readonly reason: string;
}

export const requiredPolicies: readonly RequiredPolicy[] = [
  {
    field: "timeZone",
    choices: ["UTC", "Europe/Berlin", "any other IANA name"],
    reason: "midnight is another instant in every zone, and the host's own zone differs from host to host",
  },
  {
    field: "misfire",
    choices: [
      "{ policy: run-now, threshold: 60s }",
      "{ policy: skip, threshold: 60s }",
      "{ policy: within-window, threshold: 60s, window: 2h }",
    ],
    reason: "a late summary is better than none, a late check of the last hour is worse than none",
  },
  {
    field: "blocking",
    choices: [
      "{ policy: queue, maxQueued: 1 }",
      "{ policy: forbid }",
      "{ policy: replace }",
      "{ policy: allow }",
    ],
    reason: "some jobs may overlap, some must wait, some must give way to the newer one",
  },
  {
    field: "catchUp",
    choices: ["{ maxFires: 0 to 5, keep: oldest }", "{ maxFires: 0 to 5, keep: newest }"],
    reason:
      "after a long stop everything that was missed would start at once and bring the database down again",
  },
  {
    field: "retry",
    choices: ["{ maxAttempts: 3 to 5, delays: [1m, 5m, 30m] }"],
    reason: "too few attempts wake people for nothing, too many keep a broken system broken",
  },
  {
    field: "lease",
    choices: ["a duration such as 30s"],
    reason: "it is how long work may stand still after a host has died",
  },
  {
    field: "timeout",
    choices: ["a duration such as 30m"],
    reason: "an attempt that hangs holds its slot and its shard for ever",
  },
  {
    field: "resources",
    choices: [
      "{ class: cpu, peakMemory: 512MiB }",
      "{ class: memory, peakMemory: 4GiB }",
      "{ class: io, peakMemory: 256MiB }",
    ],
    reason: "the executor admits attempts by it, and the host limits memory by it",
  },
];

/** Asked for only where the schedule is cron and the clocks of the zone will change. */
export const requiredWithClockChanges: readonly RequiredPolicy[] = [
  {
    field: "dstGap",
    choices: ["run-at-transition", "skip"],
    reason: "a local time that clocks jump over has no fire of its own",
  },
  {
    field: "dstOverlap",
    choices: ["first", "second", "both"],
    reason: "a local time that comes twice would fire twice, or once on the wrong side",
  },
];
