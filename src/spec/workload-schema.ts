/** `kind: Workload` as written in a file: what runs how often, and what it needs. Capacity is computed from it. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, duration, expectation, name, size, text, wholeNumber } from "./scalar-schema.ts";

const day = { min: 1, max: 86_400_000 };

/** A number between two bounds, both included. */
export function numberBetween(minimum: number, maximum: number, description: string) {
  return z
    .number()
    .min(minimum)
    .max(maximum)
    .register(expectation, { what: `a number from ${minimum} to ${maximum}` })
    .describe(description);
}

/** A date without a time: 2026-12-31. */
export function calendarDate(description: string) {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .refine((value) => new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) ?? false)
    .register(expectation, { what: "a date such as 2026-12-31" })
    .describe(description);
}

const memory = z
  .strictObject({
    heap: size("The heap a runtime is given, for example -Xmx.").optional(),
    offHeap: size("Buffers, thread stacks, code cache and the like outside the heap.").optional(),
    pageCache: size("File cache the job needs to be fast.").optional(),
    others: size("Programs the job starts besides itself.").optional(),
    peak: size(
      "The measured peak of one attempt (memory.peak of its cgroup), in place of the parts.",
    ).optional(),
  })
  .superRefine((value, context) => {
    if (value.peak === undefined && value.heap === undefined)
      context.addIssue({ code: "custom", message: "must have the measured peak, or at least the heap" });
    if (value.peak !== undefined && Object.keys(value).length > 1)
      context.addIssue({
        code: "custom",
        message: "has both the measured peak and parts; leave the parts out",
      });
  })
  .describe("Memory of one running shard.");

const job = z.strictObject({
  name: name("A name for this line."),
  jobs: wholeNumber(1, 100_000, "How many jobs are like this one.").default(1),
  class: choice(
    ["cpu", "memory", "io", "mixed"],
    "What a shard is short of first; mixed when it is more than one.",
  ),
  runsPerDay: numberBetween(0.001, 86_400, "Executions of each job on an ordinary day."),
  shards: wholeNumber(1, 10_000, "Shards of one execution."),
  totalTime: duration("The work of one execution as if one slot did all of it.", {
    min: 1,
    max: 3_660 * 86_400_000,
  }),
  period: duration("The time from one fire to the next.", { min: 1_000, max: 3_660 * 86_400_000 }).optional(),
  rowsPerRun: wholeNumber(0, 1_000_000_000_000, "Business rows one execution works through.").optional(),
  memory,
  coresPerShard: numberBetween(0.01, 1_024, "Cores one running shard keeps busy.").default(1),
  iopsPerShard: numberBetween(
    0,
    10_000_000,
    "Disk operations a second of one running shard, on the executor.",
  ).default(0),
  networkPerShard: size("Bytes a second one running shard reads and writes over the network.").optional(),
  logPerShard: size("Text output of one shard.").optional(),
  canRunAway: z
    .boolean()
    .register(expectation, { what: "true or false" })
    .describe("True when an attempt may exhaust memory, crash its host's services or run wild.")
    .optional(),
});

export const workloadSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Workload"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    origin: text("Where the figures come from: an estimate, or a record store and a date.").optional(),
    executorNodes: wholeNumber(1, 10_000, "Machines that run shards."),
    jobs: z
      .array(job)
      .min(1)
      .superRefine((value, context) => {
        const seen = new Set<string>();
        for (const [i, { name }] of value.entries()) {
          if (seen.has(name))
            context.addIssue({ code: "custom", path: [i, "name"], message: "is used twice" });
          seen.add(name);
        }
      })
      .describe("What runs."),
    records: z
      .strictObject({
        retentionMonths: wholeNumber(1, 120, "Months of records that are kept.").default(13),
        bytesPerShard: wholeNumber(
          1,
          1_000_000,
          "Bytes of one shard's record, with its message or summary.",
        ).default(150),
        retryShare: numberBetween(0, 5, "Attempts that fail and are tried again, per shard.").default(0.01),
        archiveDays: wholeNumber(0, 3_650, "Days of log kept for recovery to a point in time.").default(14),
      })
      .describe("The records and how long they are kept.")
      .prefault({}),
    growthPerYear: numberBetween(
      -0.9,
      100,
      "Growth of the number of executions: 0.2 is a fifth more each year.",
    ).default(0),
    peaks: z
      .array(
        z.strictObject({
          name: name("A name for this peak."),
          when: choice(["month-end", "quarter-end", "dates"], "The days it falls on."),
          dates: z
            .array(calendarDate("A day of a promotion."))
            .min(1)
            .describe("For `when: dates`.")
            .optional(),
          factor: numberBetween(1, 1_000, "Rows of such a day over those of an ordinary one."),
        }),
      )
      .superRefine((value, context) => {
        for (const [i, { when, dates }] of value.entries()) {
          if ((when === "dates") !== (dates !== undefined))
            context.addIssue({
              code: "custom",
              path: [i, "dates"],
              message: "belong to when: dates, and only to that",
            });
        }
      })
      .describe("Days with more to do than others.")
      .default([]),
    busiest: z
      .strictObject({
        share: numberBetween(0.0001, 1, "Part of a day's executions that fall into the window."),
        within: duration("The length of the window.", day),
      })
      .describe("The busiest stretch of a day.")
      .prefault({ share: 0.4, within: "10m" }),
    executorChangesPerMonth: numberBetween(
      0,
      10_000,
      "How often executors are added, moved or rebuilt.",
    ).optional(),
  }),
});

export type WorkloadDocument = z.output<typeof workloadSchema>;
export type Workload = WorkloadDocument["spec"];
export type WorkloadJob = Workload["jobs"][number];
