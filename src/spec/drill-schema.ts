/** `kind: Drill` as written in a file: a fault on purpose, its limits, its proof and what must be so afterwards. */
import { z } from "zod";
import { drillClasses, drillRoles, leaseSpans, proofKinds, proofObservers } from "./drill-definition.ts";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, duration, expectation, name, size, text, wholeNumber } from "./scalar-schema.ts";

const minute = 60_000;
const hour = 60 * minute;
/** A history that lets fires start later than this is not judged as a pass; see judge-drill. */
const mostLate = 5 * minute;

const target = z
  .strictObject({
    role: choice(drillRoles, "What the target is when the drill begins."),
    owning: z
      .literal("running-shard")
      .describe("It must run a shard at the moment of the fault; needed for every executor.")
      .optional(),
  })
  .describe("Which host is broken: one, chosen when the drill begins.");

const restart = choice(
  ["allowed", "suppressed"],
  "suppressed: the unit is kept from starting again until the restore.",
);

const clockOffset = (description: string) => duration(description, { min: 1_000, max: 12 * hour }).optional();

const fault = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("kill").describe("SIGKILL to the main process."), restart }),
    z.strictObject({ kind: z.literal("stop").describe("A stop as an operator does it."), restart }),
    z.strictObject({ kind: z.literal("pause").describe("SIGSTOP, and SIGCONT at the end.") }),
    z.strictObject({
      kind: z.literal("cut").describe("Packets dropped."),
      direction: choice(
        ["both", "receive"],
        "Both ways, or only what comes in: requests leave, answers are lost.",
      ),
      keep: z
        .array(choice(["watchman", "record-store"], "A role."))
        .describe("Roles that stay reachable, besides the controller.")
        .default([]),
    }),
    z
      .strictObject({
        kind: z.literal("clock").describe("The wall clock moved."),
        ahead: clockOffset("Forward by this much."),
        behind: clockOffset("Back by this much."),
      })
      .superRefine((value, context) => {
        if ((value.ahead === undefined) === (value.behind === undefined))
          context.addIssue({ code: "custom", message: "must have exactly one of ahead and behind" });
      }),
    z.strictObject({ kind: z.literal("power").describe("Reset without a shutdown.") }),
    z.strictObject({
      kind: z.literal("fill-disk").describe("A file system filled up."),
      path: text("A folder on it.").regex(/^\/[^\s]*$/, { error: "must be an absolute path" }),
      reserve: size("What stays free."),
    }),
    z.strictObject({
      kind: z.literal("memory-limit").describe("The unit's memory limited below what it uses."),
      limit: size("The limit."),
    }),
  ])
  .describe("What is done to the target.")
  .register(expectation, { what: "a map such as { kind: kill, restart: allowed }" });

const hold = z
  .strictObject({
    for: duration("A time.", { min: 1_000, max: 2 * hour }).optional(),
    times: wholeNumber(1, 10, "So many times the span of `of`.").optional(),
    of: choice(leaseSpans, "A span that the cluster file sets.").optional(),
    atLeast: duration("Not shorter than this.", { min: 1_000, max: 2 * hour }).optional(),
  })
  .superRefine((value, context) => {
    const relative = value.times !== undefined && value.of !== undefined;
    const absolute = value.for !== undefined;
    const some = value.times !== undefined || value.of !== undefined || value.atLeast !== undefined;
    if (absolute ? some : !relative)
      context.addIssue({ code: "custom", message: "must have `for`, or `times` and `of`" });
  })
  .describe("How long the fault stays.")
  .register(expectation, {
    what: "a map such as { for: 30s } or { times: 2, of: executor-lease-and-reclaim }",
  });

const limitAfterHold = duration("After the hold and this, the host puts itself right, whatever happened.", {
  min: 5_000,
  max: 30 * minute,
});

const proof = z
  .array(
    z.strictObject({
      see: choice(proofKinds, "What is seen."),
      from: choice(proofObservers, "Who sees it."),
    }),
  )
  .min(1)
  .describe("What must have been seen while the fault lasted, all of it; at least one not by the target.");

const pass = z
  .strictObject({
    allowedFailures: z
      .array(name("A class of the checker."))
      .describe("Classes of findings that do not fail the drill; of a sound cluster none.")
      .default([]),
    refusedStaleWrites: wholeNumber(
      0,
      1_000,
      "Writes of a former holder that must have been refused.",
    ).default(0),
    startWithin: duration(
      "Of every fire, from its time to the start of its first attempt, unless it is caught up as a misfire.",
      {
        max: mostLate,
      },
    ).optional(),
    takeoverWithin: duration("Until another one leads or runs the shard.", { max: hour }).optional(),
    restartedWithin: duration("Until the unit runs again.", { max: hour }).optional(),
    offsetBelow: duration("Of the target's clock after the restore.", { max: minute }).optional(),
    culpritNamed: z
      .boolean()
      .describe("The comparison of all clocks must name the target and nobody else.")
      .default(false),
  })
  .describe("What else must be so, besides a clean comparison and nothing left behind.");

const variant = z.strictObject({
  name: name("Unique in the drill; `--variant` takes it."),
  target: target.optional(),
  fault: fault.optional(),
  hold: hold.optional(),
  limitAfterHold: limitAfterHold.optional(),
  proof: proof.optional(),
  pass: pass.optional(),
});

export const drillSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Drill"),
  metadata,
  spec: z.strictObject({
    class: choice(drillClasses, "What the drill stands for in the checklist and the timetable."),
    description: text("What is broken and what should happen, in one or two sentences."),
    target: target.optional(),
    fault: fault.optional(),
    hold: hold.optional(),
    limitAfterHold: limitAfterHold.prefault("15s"),
    proof: proof.optional(),
    pass: pass.prefault({}),
    variants: z
      .array(variant)
      .min(1)
      .describe("Run one after the other; a field of a variant stands in place of the drill's.")
      .optional(),
    steadyState: z
      .strictObject({
        standbyHealthy: z.boolean().describe("A second scheduler is ready to lead.").default(true),
        offsetBelow: duration("Of every host's clock.", { max: minute }).prefault("500ms"),
        backlogBelow: wholeNumber(0, 1_000_000, "Shards that wait.").default(100),
        noCriticalAlerts: z.boolean().describe("No open alert is critical.").default(true),
      })
      .describe("What must be so before, or the drill does not begin.")
      .prefault({}),
    load: z
      .strictObject({
        jobs: wholeNumber(1, 20, "Probe jobs side by side.").default(2),
        every: duration("Each fires this often.", { min: 1_000, max: 10 * minute }).prefault("5s"),
        shards: wholeNumber(1, 64, "Shards of one fire.").default(4),
        shardDuration: duration("How long one attempt takes.", { min: 100, max: hour }).prefault("3s"),
        obligations: wholeNumber(1, 10_000, "Fires that must come due while the fault lasts.").default(5),
      })
      .describe("Work of the drill's own, on which it is judged.")
      .prefault({}),
    abort: z
      .strictObject({
        backlogOver: wholeNumber(1, 1_000_000, "Shards that wait.").default(500),
        otherHostUnhealthy: z.boolean().describe("Any other host is not what it was.").default(true),
        freeBelow: size("Of the file systems of the target.").prefault("256MiB"),
      })
      .describe("When the fault is taken back early; a halt always does.")
      .prefault({}),
    settle: z
      .strictObject({
        minimum: duration("After the restore, before the first read.", { max: hour }).prefault("30s"),
        quietReads: wholeNumber(2, 10, "Equal reads in a row.").default(2),
        readEvery: duration("Between two reads.", { min: 500, max: 10 * minute }).prefault("5s"),
        deadline: duration("Not quiet by then: unknown.", { min: 10_000, max: 6 * hour }).prefault("30m"),
      })
      .describe("How long the cluster may take to come to rest.")
      .prefault({}),
    blastRadius: z
      .strictObject({
        hosts: z.literal(1).describe("One host; never both schedulers.").default(1),
        recordStore: z.boolean().describe("true: the record store may be the target.").default(false),
        awayFromPeak: duration("On the timetable not this close to a peak day.", {
          min: 24 * hour,
          max: 14 * 24 * hour,
        }).prefault("24h"),
      })
      .describe("What the drill may touch at most.")
      .prefault({}),
  }),
});

export type DrillDocument = z.output<typeof drillSchema>;
export type FaultDocument = z.output<typeof fault>;
export type HoldDocument = z.output<typeof hold>;
export type PassDocument = z.output<typeof pass>;
