/** `kind: Cluster` as written in a file. Settings of the machinery may have defaults; policies of jobs may not. */
import { isIP } from "node:net";
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import {
  choice,
  duration,
  expectation,
  longestTimerMs,
  name,
  size,
  text,
  wholeNumber,
} from "./scalar-schema.ts";

const http = z
  .strictObject({
    address: text("The host name or IP to listen on."),
    port: wholeNumber(1, 65_535, "The TCP port to listen on."),
  })
  .describe("Where status, health and metrics are served.");

const store = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//)
      .register(expectation, { what: "a URL that begins with postgres:// or postgresql://" })
      .describe("The URL of the record store.")
      .optional(),
    urlFile: text("A file that holds the URL, relative to this one.").optional(),
    urlEnv: text("An environment variable that holds the URL.").optional(),
  })
  .superRefine((value, context) => {
    if (Object.keys(value).length !== 1)
      context.addIssue({ code: "custom", message: "must have exactly one of url, urlFile and urlEnv" });
  })
  .meta({ description: "Where the record store is.", minProperties: 1, maxProperties: 1 });

const timer = { min: 10, max: longestTimerMs };
const leaseShape = {
  lease: duration("How long a lease lasts without being renewed.", { min: 500, max: 3_600_000 }).prefault(
    "15s",
  ),
  renewEvery: duration("How often it is renewed.", timer).prefault("5s"),
  stopEarly: duration("How long before its end it is no longer trusted.", timer).prefault("3s"),
};

interface Lease {
  readonly lease: number;
  readonly renewEvery: number;
  readonly stopEarly: number;
}

/** Two renewals must fit into the trusted part, so that one lost renewal costs nothing. */
function checkLease(value: Lease, context: z.core.$RefinementCtx<Lease>): void {
  const complain = (path: string, message: string) =>
    context.issues.push({ code: "custom", path: [path], message, input: undefined });
  if (value.stopEarly >= value.lease) complain("stopEarly", "must be shorter than the lease");
  else if (value.renewEvery * 2 > value.lease - value.stopEarly)
    complain(
      "renewEvery",
      "must fit twice into lease minus stopEarly, so that one lost renewal does no harm",
    );
}

function uniqueNames(nodes: readonly { name: string }[], context: z.core.$RefinementCtx<unknown>): void {
  const seen = new Set<string>();
  for (const [i, node] of nodes.entries()) {
    if (seen.has(node.name))
      context.issues.push({
        code: "custom",
        path: ["nodes", i, "name"],
        message: "is used twice",
        input: undefined,
      });
    seen.add(node.name);
  }
}

const slots = (what: string) => wholeNumber(0, 10_000, `Attempts of class ${what} at once.`);

export const clusterSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Cluster"),
  metadata,
  spec: z
    .strictObject({
      description: z.string().describe("For people.").optional(),
      store,
      scheduler: z
        .strictObject({
          ...leaseShape,
          lookAhead: duration("How far ahead executions are planned.", {
            min: 1_000,
            max: 86_400_000,
          }).prefault("120s"),
          maxSleep: duration("The longest sleep between two looks at the store.", {
            min: 10,
            max: 1_000,
          }).prefault("1s"),
          clockLeave: duration("A clock this far off the database's makes a scheduler not ready.", {
            min: 10,
            max: 3_600_000,
          }).prefault("500ms"),
          clockRefuse: duration("With a clock this far off it does not lead while another one can.", {
            min: 10,
            max: 3_600_000,
          }).prefault("1s"),
          virtualAddress: z
            .string()
            .refine((written) => isIP(written) !== 0)
            .register(expectation, {
              what: "an IP address without a prefix, such as 10.0.0.100",
              repair: (input) =>
                typeof input === "string" ? /^[\d.]+(?=\/\d+$)/.exec(input)?.[0] : undefined,
            })
            .describe(
              "The address that follows a ready scheduler. Each scheduler notes whether its host has it.",
            )
            .optional(),
          nodes: z
            .array(z.strictObject({ name: name("The name of a scheduler."), http }))
            .min(1)
            .describe("The schedulers; two, on two hosts."),
        })
        .superRefine((value, context) => {
          checkLease(value, context);
          uniqueNames(value.nodes, context);
          if (value.lookAhead <= value.lease)
            context.addIssue({
              code: "custom",
              path: ["lookAhead"],
              message: "must be longer than the lease, else a change of leader delays fires",
            });
        })
        .describe("Who plans, and with which lease."),
      executor: z
        .strictObject({
          ...leaseShape,
          grace: duration("From SIGTERM to the end of the process.", { min: 100, max: 3_600_000 }).prefault(
            "30s",
          ),
          isolation: choice(
            ["none", "scope"],
            "none: attempts run as the executor's user. scope: each in a systemd scope with limits, as the user its job names.",
          ).default("none"),
          nodes: z
            .array(
              z.strictObject({
                name: name("The name of an executor."),
                slots: z
                  .strictObject({
                    cpu: slots("cpu"),
                    memory: slots("memory"),
                    io: slots("io"),
                    control: slots("control").default(0),
                  })
                  .describe("How many attempts run at once, by resource class."),
                http: http.optional(),
                workDirectory: text("Scratch space of attempts, relative to this file."),
              }),
            )
            .min(1)
            .describe("The executors."),
        })
        .superRefine((value, context) => {
          checkLease(value, context);
          uniqueNames(value.nodes, context);
          for (const [i, { slots }] of value.nodes.entries()) {
            if (slots.cpu + slots.memory + slots.io + slots.control === 0)
              context.addIssue({
                code: "custom",
                path: ["nodes", i, "slots"],
                message: "are all 0: nothing could run",
              });
          }
        })
        .describe("Who runs attempts, and with which lease."),
      catchUp: z
        .strictObject({
          share: z
            .number()
            .min(0)
            .max(0.5, {
              error:
                "must be at most 0.5: catching up with more than half of the slots starves the fires that are due now",
            })
            .describe("The part of all slots that catch-up may use."),
        })
        .describe("What catch-up may take.")
        .default({ share: 0.5 }),
      records: z
        .strictObject({ retentionMonths: wholeNumber(1, 120, "Months of records that are kept.") })
        .describe("How long records are kept.")
        .default({ retentionMonths: 13 }),
      logs: z
        .strictObject({
          directory: text("Where the output of attempts is written, relative to this file."),
          maxFile: size("A log file is rotated at this size, and at the first line of a day (UTC).").prefault(
            "10MiB",
          ),
          keepFiles: wholeNumber(1, 1_000, "Rotated files kept.").default(60),
        })
        .describe("The output of attempts."),
    })
    .superRefine((value, context) => {
      const seen = new Map<string, string>();
      const parts = [
        ["scheduler", value.scheduler.nodes],
        ["executor", value.executor.nodes],
      ] as const;
      for (const [part, nodes] of parts) {
        for (const [i, node] of nodes.entries()) {
          if (!node.http) continue;
          const place = `${node.http.address}:${node.http.port}`;
          const before = seen.get(place);
          if (before !== undefined)
            context.addIssue({
              code: "custom",
              path: [part, "nodes", i, "http", "port"],
              message: `listens at ${place}, as ${before} does`,
            });
          else seen.set(place, node.name);
        }
      }
    }),
});

export type ClusterDocument = z.output<typeof clusterSchema>;
