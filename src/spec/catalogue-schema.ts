/** `kind: Catalogue` as written in a file: the hardware that can be ordered, with what it can do and costs. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, expectation, name, size, text, wholeNumber } from "./scalar-schema.ts";
import { calendarDate, numberBetween } from "./workload-schema.ts";

const yesOrNo = (description: string) =>
  z.boolean().register(expectation, { what: "true or false" }).describe(description);

const base = {
  id: name("Unique in the catalogue."),
  title: text("As it is written on the order."),
  price: z
    .strictObject({
      amount: numberBetween(0, 100_000_000, "For one piece, in the catalogue's currency."),
      source: text("Who said so: a quote, a price list, or a planning figure."),
      date: calendarDate("When."),
    })
    .describe("What it costs."),
};
const watts = numberBetween(0, 100_000, "Electric power at full load.");

const part = z.discriminatedUnion("type", [
  z.strictObject({
    ...base,
    type: z.literal("server"),
    sockets: wholeNumber(1, 16, "CPU sockets."),
    memorySlots: wholeNumber(1, 128, "Memory modules that fit."),
    driveBays: wholeNumber(0, 200, "Drives that fit, hot-plug."),
    powerSupplies: wholeNumber(1, 8, "Hot-plug power supplies it comes with."),
    powerSupplyWatts: numberBetween(1, 10_000, "What one supply delivers."),
    rackUnits: wholeNumber(1, 50, "Height."),
    watts,
  }),
  z.strictObject({
    ...base,
    type: z.literal("cpu"),
    cores: wholeNumber(1, 512, "Physical cores."),
    numaNodes: wholeNumber(1, 32, "NUMA nodes a socket shows.").default(1),
    watts,
  }),
  z.strictObject({
    ...base,
    type: z.literal("memory"),
    capacity: size("Of one module."),
    ecc: yesOrNo("Corrects single-bit errors."),
    watts,
  }),
  z.strictObject({
    ...base,
    type: z.literal("disk"),
    media: choice(["nvme", "sata-ssd", "hdd"], "What it is."),
    capacity: size("Of one drive."),
    powerLossProtection: yesOrNo("Keeps what it has confirmed when the power fails."),
    readIops: wholeNumber(1, 100_000_000, "Random 8 KiB reads a second."),
    writeIops: wholeNumber(1, 100_000_000, "Random 8 KiB writes a second, sustained."),
    flushesPerSecond: wholeNumber(1, 10_000_000, "Flushes to stable media a second, one after the other."),
    writesPerDay: numberBetween(0, 1_000, "Whole-drive writes a day it is rated for.").optional(),
    watts,
  }),
  z.strictObject({
    ...base,
    type: z.literal("raid-controller"),
    cache: size("Write-back cache."),
    protectedCache: yesOrNo("The cache survives a power cut: capacitor or battery."),
    flushesPerSecond: wholeNumber(1, 10_000_000, "Flushes a second into the protected cache."),
    watts,
  }),
  z.strictObject({
    ...base,
    type: z.literal("network"),
    gigabits: numberBetween(0.1, 1_000, "Of one port."),
    ports: wholeNumber(1, 8, "Ports on the card."),
    watts,
  }),
]);

export const catalogueSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Catalogue"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .register(expectation, { what: "a currency of three capital letters, such as EUR" })
      .describe("Of every price."),
    parts: z
      .array(part)
      .min(1)
      .superRefine((value, context) => {
        const seen = new Set<string>();
        for (const [i, { id }] of value.entries()) {
          if (seen.has(id)) context.addIssue({ code: "custom", path: [i, "id"], message: "is used twice" });
          seen.add(id);
        }
      })
      .describe("What can be ordered."),
  }),
});

export type CatalogueDocument = z.output<typeof catalogueSchema>;
export type Catalogue = CatalogueDocument["spec"];
export type Part = Catalogue["parts"][number];
export type PartType = Part["type"];
export type PartOf<T extends PartType> = Extract<Part, { type: T }>;
