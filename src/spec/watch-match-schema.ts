/** Which alerts something is about: routes, silences and windows say it in the same words. */
import { z } from "zod";
import { choice, text } from "./scalar-schema.ts";

export const severities = ["info", "warning", "critical"] as const;

const pattern = (description: string) => text(`${description} A * stands for any characters.`);

const matchShape = {
  severity: z.array(choice(severities, "A severity.")).min(1).describe("One of these.").optional(),
  rule: z.array(pattern("The name of a rule.")).min(1).describe("One of these rules.").optional(),
  job: z.array(pattern("namespace/name of a job.")).min(1).describe("One of these jobs.").optional(),
  key: z.array(pattern("The key of an alert.")).min(1).describe("One of these keys.").optional(),
};

/** `*` fits everything, and so names nothing. All severities together do not either. */
export function namesSomething({
  severity,
  ...patterns
}: Partial<Record<string, readonly string[]>>): boolean {
  const narrow = Object.values(patterns).some(
    (list) => list !== undefined && !list.some((one) => /^\**$/.test(one)),
  );
  return narrow || (severity !== undefined && new Set(severity).size < severities.length);
}

export const match = z
  .strictObject(matchShape)
  .describe("All that is named must fit; nothing named fits everything.");

/** Of a silence. */
export const narrowMatch = z
  .strictObject(matchShape)
  .refine((value) => namesSomething(value), {
    error: "must name a severity, rule, job or key: nothing named, or a * alone, would silence everything",
  })
  .describe("All that is named must fit.");
