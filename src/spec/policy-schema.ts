/** The policies that a job must name, one by one or through a policy set. */
import { z } from "zod";
import {
  choice,
  duration,
  expectation,
  longestTimerMs,
  size,
  timeZone,
  wholeNumber,
} from "./scalar-schema.ts";

const threshold = duration("How late a fire may start before it counts as misfired.");

const misfire = z
  .discriminatedUnion("policy", [
    z.strictObject({ policy: z.literal("run-now"), threshold }),
    z.strictObject({ policy: z.literal("skip"), threshold }),
    z.strictObject({
      policy: z.literal("within-window"),
      threshold,
      window: duration("How late a fire may still be run; later it is recorded as missed."),
    }),
  ])
  .superRefine((value, context) => {
    if (value.policy === "within-window" && value.window < value.threshold)
      context.addIssue({
        code: "custom",
        path: ["window"],
        message: "must not be shorter than the threshold",
      });
  })
  .describe("What happens to a fire that did not start in time.")
  .register(expectation, { what: "a map such as { policy: run-now, threshold: 60s }" });

const blocking = z
  .discriminatedUnion("policy", [
    z.strictObject({
      policy: z.literal("queue"),
      maxQueued: wholeNumber(1, 1_000, "How many executions may wait; the next one is recorded as blocked."),
    }),
    z.strictObject({ policy: z.literal("forbid") }),
    z.strictObject({ policy: z.literal("replace") }),
    z.strictObject({ policy: z.literal("allow") }),
  ])
  .describe("What happens when a fire comes due while an earlier execution is not finished.")
  .register(expectation, { what: "a map such as { policy: forbid }" });

const catchUp = z
  .strictObject({
    maxFires: wholeNumber(0, 5, "How many missed fires may run later, one after the other; 0 is none."),
    keep: choice(["oldest", "newest"], "Which fires run when more were missed than may run."),
  })
  .describe("What is run later after a long stop. What exceeds the cap becomes a missed row, for a person.")
  .register(expectation, { what: "a map such as { maxFires: 3, keep: oldest }" });

const retry = z
  .strictObject({
    maxAttempts: wholeNumber(
      3,
      5,
      "Tries of one shard, the first included; then it has failed and an alert is raised.",
    ),
    delays: z
      .array(duration("The wait after one failed attempt.", { max: longestTimerMs }))
      .min(1)
      .max(10)
      .describe("Waits between attempts, in order; the last one repeats."),
  })
  .describe("How often and when a failed shard is tried again.")
  .register(expectation, { what: "a map such as { maxAttempts: 4, delays: [1m, 5m, 30m] }" });

const resources = z
  .strictObject({
    class: choice(
      ["cpu", "memory", "io", "control"],
      "Which of an executor's slots one attempt takes; control is for drills on their timetable.",
    ),
    peakMemory: size("The most memory one attempt needs."),
  })
  .describe("What one attempt of one shard needs of a host.")
  .register(expectation, { what: "a map such as { class: cpu, peakMemory: 512MiB }" });

/** Every policy, each optional here: a job may have it from its policy set. */
export const policyShape = {
  timeZone: timeZone("The zone whose clock and calendar the schedule follows.").optional(),
  dstGap: choice(
    ["run-at-transition", "skip"],
    "What happens to a fire at a local time that does not exist because clocks go forward.",
  ).optional(),
  dstOverlap: choice(
    ["first", "second", "both"],
    "Which one fires when a local time exists twice because clocks go back.",
  ).optional(),
  misfire: misfire.optional(),
  blocking: blocking.optional(),
  catchUp: catchUp.optional(),
  retry: retry.optional(),
  lease: duration("The longest time a dead executor may keep a shard of this job from the others.", {
    min: 500,
    max: longestTimerMs,
  }).optional(),
  timeout: duration("The longest run of one attempt; then its process group is killed.", {
    max: longestTimerMs,
  }).optional(),
  resources: resources.optional(),
  onStoreLoss: choice(
    ["kill", "continue-fenced"],
    "When the record store is lost: kill the attempt (default), or let it end and let the fence judge its last write.",
  ).optional(),
};

/** The parsed policies of a job or a policy set. */
export type Policies = z.output<z.ZodObject<typeof policyShape>>;
export type PolicyField = keyof typeof policyShape;
