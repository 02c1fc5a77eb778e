/**
 * `kind: ProcurementSheet` as written in a file: which machines are bought, what
 * each must be able to do and why, and how a delivered machine is tested for it.
 */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, duration, name, size, text, wholeNumber } from "./scalar-schema.ts";
import { numberBetween } from "./workload-schema.ts";

/** Figures that the calculators provide to a role's requirements, by name. */
export const figureNames = [
  "cores",
  "memoryBytes",
  "diskBytes",
  "flushesPerSecond",
  "writeIops",
  "networkGigabits",
] as const;
export type FigureName = (typeof figureNames)[number];

const figure = (description: string) => choice(figureNames, description);

const test = z
  .discriminatedUnion("check", [
    z.strictObject({
      check: z.literal("power-supplies"),
      atLeast: wholeNumber(1, 8, "Supplies present and healthy."),
    }),
    z.strictObject({ check: z.literal("cores"), atLeast: figure("Physical cores the machine must have.") }),
    z.strictObject({ check: z.literal("memory"), atLeast: figure("Installed memory.") }),
    z.strictObject({ check: z.literal("memory-ecc") }),
    z.strictObject({ check: z.literal("memory-speed") }),
    z.strictObject({ check: z.literal("numa-nodes") }),
    z.strictObject({
      check: z.literal("disk-capacity"),
      atLeast: figure("Room on the file system of the folder under test."),
    }),
    z.strictObject({ check: z.literal("write-cache") }),
    z.strictObject({
      check: z.literal("flush-rate"),
      atLeast: figure("Flushes a second, one after the other."),
    }),
    z.strictObject({ check: z.literal("write-iops"), atLeast: figure("Random writes of 8 KiB a second.") }),
    z.strictObject({ check: z.literal("raid-cache") }),
    z.strictObject({ check: z.literal("network-speed"), atLeast: figure("Of the fastest link that is up.") }),
    z.strictObject({
      check: z.literal("clock-source"),
      oneOf: z.array(text("A kernel clock source.")).min(1).describe("Acceptable ones."),
    }),
    z.strictObject({
      check: z.literal("clock-offset"),
      atMost: duration("Distance from true time.", { min: 1, max: 3_600_000 }),
    }),
    z.strictObject({ check: z.literal("time-zone"), equals: text("The system's time zone.") }),
  ])
  .describe("How a delivered machine is tested.");

const requirement = z.strictObject({
  id: name("Unique in the sheet."),
  text: text("What the supplier must deliver; {figure} is replaced by the computed figure of that name."),
  why: text("What it is for."),
  accept: test,
});

const role = z.strictObject({
  name: name("The role."),
  title: text("The title of its page."),
  use: choice(
    ["scheduler", "executor", "record-store", "watchman"],
    "What runs there; an executor role is made for each class in the workload.",
  ),
  machines: wholeNumber(1, 1_000, "How many, where the workload does not decide it.").optional(),
  purpose: text("What the machine does, for the buyer."),
  cores: numberBetween(1, 1_000, "Cores, where the workload does not decide it.").optional(),
  memory: size("Memory, where the workload does not decide it.").optional(),
  disk: z
    .strictObject({
      capacity: size("Room, where the workload does not decide it.").optional(),
      layout: choice(["single", "raid1", "raid10", "raid5", "raid6"], "How the drives are put together."),
      powerLossProtection: z.boolean().describe("Drives that keep what they confirmed."),
      protectedRaidCache: z
        .boolean()
        .describe("A controller whose cache survives a power cut.")
        .default(false),
    })
    .describe("The drives."),
  networkGigabits: numberBetween(0.1, 1_000, "Speed of a port."),
  powerSupplies: wholeNumber(1, 8, "Supplies, each able to carry the machine alone when there are two."),
  requirements: z.array(requirement).min(1).describe("What is tested on delivery."),
});

export const procurementSchema = z.strictObject({
  apiVersion,
  kind: z.literal("ProcurementSheet"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    roles: z
      .array(role)
      .min(1)
      .superRefine((value, context) => {
        const seen = new Set<string>();
        for (const [i, { name, requirements }] of value.entries()) {
          if (seen.has(name))
            context.addIssue({ code: "custom", path: [i, "name"], message: "is used twice" });
          seen.add(name);
          for (const [j, { id }] of requirements.entries()) {
            if (seen.has(`${name} ${id}`))
              context.addIssue({
                code: "custom",
                path: [i, "requirements", j, "id"],
                message: "is used twice",
              });
            seen.add(`${name} ${id}`);
          }
        }
      })
      .describe("One page each."),
  }),
});

export type ProcurementDocument = z.output<typeof procurementSchema>;
export type ProcurementSheet = ProcurementDocument["spec"];
export type Role = ProcurementSheet["roles"][number];
export type Requirement = Role["requirements"][number];
export type AcceptanceTest = Requirement["accept"];
