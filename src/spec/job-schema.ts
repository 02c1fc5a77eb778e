/** `kind: Job` and `kind: PolicySet` as written in a file. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { policyShape } from "./policy-schema.ts";
import {
  choice,
  command,
  duration,
  expectation,
  inQuotes,
  name,
  text,
  wholeNumber,
} from "./scalar-schema.ts";
import { maxShards } from "./shard-count.ts";

const schedule = z
  .strictObject({
    cron: text("Five or six fields, or @daily and the like.").optional(),
    every: duration("A fixed interval.", { min: 1_000 }).optional(),
    manual: z.literal(true).describe("Never fires by itself; a person runs it.").optional(),
  })
  .superRefine((value, context) => {
    if (Object.keys(value).length !== 1)
      context.addIssue({ code: "custom", message: "must have exactly one of cron, every and manual" });
  })
  .meta({ description: "When the job fires.", minProperties: 1, maxProperties: 1 })
  .register(expectation, { what: 'a map such as { cron: "0 2 * * *" }' });

const period = z
  .strictObject({
    unit: choice(["month", "day"], "The calendar unit of the business period."),
    offset: wholeNumber(-400, 400, "From the fire's own month or day: -1 is the one before, 0 the same."),
  })
  .describe("The business period an execution is for. One period is run once, whatever fires it.")
  .register(expectation, { what: "a map such as { unit: month, offset: -1 }" });

const ordinaryCount = wholeNumber(1, maxShards, "Shards that ordinary keys are spread over.");
const heavy = z
  .array(text("A key."))
  .describe("Keys that get a shard each, numbered after the ordinary ones.")
  .default([]);

const shards = z
  .discriminatedUnion("by", [
    z.strictObject({ by: z.literal("none") }),
    z.strictObject({
      by: z.literal("hash"),
      count: ordinaryCount,
      key: text("The column with the business key that is hashed."),
      heavy,
    }),
    z.strictObject({
      by: z.literal("keys"),
      count: ordinaryCount,
      keys: z.array(text("A key.")).min(1).describe("Every key there is."),
      heavy,
    }),
    z.strictObject({
      by: z.literal("frozen"),
      count: ordinaryCount,
      freeze: command("Run once before the first shard; prints one key a line."),
    }),
  ])
  .superRefine((value, context) => {
    const complain = (path: (string | number)[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    if (!("heavy" in value)) return;
    const seen = new Set<string>();
    for (const [i, key] of value.heavy.entries()) {
      if (seen.has(key)) complain(["heavy", i], "is listed twice");
      seen.add(key);
    }
    if (seen.size > 0 && value.count <= maxShards && value.count + seen.size > maxShards)
      complain(
        ["count"],
        `makes ${value.count + seen.size} shards with the heavy keys; at most ${maxShards}`,
      );
    if (value.by !== "keys") return;
    const keys = new Set<string>();
    for (const [i, key] of value.keys.entries()) {
      if (keys.has(key)) complain(["keys", i], "is listed twice");
      keys.add(key);
    }
    for (const [i, key] of value.heavy.entries())
      if (!keys.has(key)) complain(["heavy", i], "is not one of the keys");
    const ordinary = [...keys].filter((key) => !seen.has(key)).length;
    if (ordinary === 0) complain(["heavy"], "leaves no key for the ordinary shards");
    else if (value.count > ordinary)
      complain(["count"], `is more than the ${ordinary} keys that are not heavy`);
  })
  .describe("How an execution is cut into pieces that are retried alone.")
  .register(expectation, { what: "a map such as { by: hash, count: 32, key: customer_id }" });

const docs = text(
  "The page about these policies: a path from the root of the repository, with a #section if you like. Policy sets may have one for all their jobs.",
).optional();

const keyPart = text("A column or field.");
const effect = z.strictObject({
  kind: choice(["table", "message", "http"], "What is changed: rows, a message sent, a call made."),
  target: text("The table, topic or URL."),
  key: z
    .union([keyPart, z.array(keyPart).min(1)])
    .register(expectation, { what: "a column or field, or a list of them" })
    .transform((value) => (typeof value === "string" ? [value] : value))
    .describe("What makes one change the same change when it is repeated."),
  mode: choice(
    ["insert", "replace", "state"],
    "Add rows, replace a whole part, or bring one thing into a state.",
  ),
  sources: z.array(text("A path.")).min(1).describe("Paths of the code that makes the change."),
});

/** A Job; policies may be missing here, they are asked for after the merge with the policy set. */
export const jobSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Job"),
  metadata: metadata
    .extend({
      namespace: name("Groups jobs; a name is unique within it.").default("default"),
      ancestor: name("The name this job had before it was renamed.").optional(),
    })
    .describe("Who this job is."),
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    docs,
    policySet: name("A kind: PolicySet that gives the policies not written here.").optional(),
    command: command("Program and arguments of one attempt."),
    workingDirectory: text("Where the command starts; without it, a folder of the attempt's own.").optional(),
    runAs: z
      .string()
      .regex(/^[a-z_][a-z0-9_-]{0,31}$/)
      .refine((value) => value !== "root", { error: "must not be root: no job needs to own the host" })
      .register(expectation, { what: "the name of a user, such as settlement" })
      .describe(
        "The user the command runs as; it must be in the list of the host. Without it: escapement-job in a scope, else the executor's own.",
      )
      .optional(),
    environment: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "is not a name of an environment variable" }),
        z.string().register(expectation, { what: "text", repair: inQuotes }),
      )
      .superRefine((value, context) => {
        for (const [key, content] of Object.entries(value)) {
          if (key.startsWith("ESCAPEMENT_") || key === "TZ")
            context.addIssue({ code: "custom", path: [key], message: "is set by the executor" });
          else if (content.includes("\0"))
            context.addIssue({ code: "custom", path: [key], message: "contains a NUL character" });
        }
      })
      .describe("Environment variables, besides those that the executor sets.")
      .default({}),
    schedule,
    period: period.optional(),
    shards,
    effects: z
      .array(effect)
      .describe("Everything the job changes; an empty list says that it changes nothing."),
    ...policyShape,
  }),
});

/** A PolicySet: any of the policies, shared by the jobs that name it. */
export const policySetSchema = z.strictObject({
  apiVersion,
  kind: z.literal("PolicySet"),
  metadata,
  spec: z.strictObject({ description: z.string().describe("For people.").optional(), docs, ...policyShape }),
});

export type JobDocument = z.output<typeof jobSchema>;
export type PolicySetDocument = z.output<typeof policySetSchema>;
