/** `kind: Playbook` as written in a file: an ordered procedure on hosts. What an action or a check does is TypeScript. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, duration, name, text } from "./scalar-schema.ts";

/** What the profile of a host makes it. */
export const hostRoles = ["scheduler", "executor", "record-store", "watchman"] as const;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const args = z
  .record(z.string(), z.union([scalar, z.array(scalar)]))
  .describe("Values for it, by name; `escapement playbook actions` lists them.")
  .default({});

const check = z
  .strictObject({ check: name("The name of a check."), with: args })
  .describe("A question that only looks. Its answer is yes, no or unknown, and unknown is never a yes.");

const action = z
  .strictObject({ do: name("The name of an action."), with: args })
  .describe("What is done. Doing it twice does no harm.");

const step = z.strictObject({
  id: name("Unique in the playbook; `--from` takes it."),
  title: text("What the step does, in a few words."),
  hosts: z
    .strictObject({
      role: choice([...hostRoles, "any"], "Hosts whose profile gives them this role.").default("any"),
      pick: choice(
        ["all", "first", "target", "others"],
        "All of them, the first in the inventory, those named by --host, or all but those.",
      ).default("all"),
      order: choice(
        ["as-listed", "standby-first"],
        "The order of the inventory, or the leading scheduler last.",
      ).default("as-listed"),
    })
    .describe("Where it happens."),
  requires: z
    .array(check)
    .describe("What must be so before the step may begin on a host. A no or an unknown ends the run.")
    .default([]),
  guard: check.describe("A yes says that the step is done already: it is left out.").optional(),
  action,
  verify: z
    .strictObject({
      check: name("The name of a check."),
      with: args,
      within: duration("How long it may take until the answer is yes.", { min: 100, max: 86_400_000 }),
    })
    .describe("What must be so afterwards.")
    .optional(),
  undo: action.describe("Takes the step back; run from the last step to the first.").optional(),
  risk: choice(
    ["low", "medium", "high"],
    "low: nothing notices. medium: a service restarts. high: a host may be lost from sight or lose its role.",
  ),
  rolling: choice(
    ["together", "by-domain", "one-by-one"],
    "All hosts at once, one failure domain after the other, or one host after the other.",
  ).default("together"),
  pause: duration("Between two hosts or domains.", { min: 0, max: 3_600_000 }).optional(),
});

export const playbookSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Playbook"),
  metadata,
  spec: z
    .strictObject({
      description: text("What it is for, in one or two sentences."),
      target: choice(
        ["cluster", "one-host", "hosts"],
        "cluster: it is about all hosts. one-host: --host names exactly one. hosts: --host names one or more.",
      ),
      steps: z
        .array(step)
        .min(1)
        .describe("In order; a step begins when the one before has ended on every host."),
    })
    .superRefine((value, context) => {
      const seen = new Set<string>();
      for (const [i, { id, hosts }] of value.steps.entries()) {
        if (seen.has(id))
          context.addIssue({ code: "custom", path: ["steps", i, "id"], message: "is used twice" });
        seen.add(id);
        if (value.target === "cluster" && (hosts.pick === "target" || hosts.pick === "others"))
          context.addIssue({
            code: "custom",
            path: ["steps", i, "hosts", "pick"],
            message: "needs a playbook whose target is one-host or hosts",
          });
      }
    }),
});

export type PlaybookDocument = z.output<typeof playbookSchema>;
export type PlaybookStep = PlaybookDocument["spec"]["steps"][number];
export type HostRole = (typeof hostRoles)[number];
