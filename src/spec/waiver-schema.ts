/** `kind: Waivers` as written in a file: which open answers of the checklist may pass for a time, why, and who said so. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, instant, text, wholeNumber } from "./scalar-schema.ts";

/** A risk that is accepted for longer than this is a decision about the system, not a waiver. */
export const longestWaiverMs = 90 * 86_400_000;

const scope = z
  .strictObject({
    kind: choice(["cluster", "host", "job"], "What the answer is about."),
    name: text("The host, or namespace/name of the job.").optional(),
  })
  .superRefine((value, context) => {
    if ((value.kind === "cluster") !== (value.name === undefined))
      context.addIssue({
        code: "custom",
        message: value.kind === "cluster" ? "must have no name: there is one cluster" : "must have a name",
      });
  })
  .describe("Exactly one scope: there is no waiver for everything.");

const waiver = z
  .strictObject({
    item: wholeNumber(0, 999, "The number of the item."),
    scope,
    reason: text("Why the risk may stand until then."),
    owner: text("Who puts it right."),
    approver: text("Who accepted the risk: another person than the owner."),
    created: instant("When it was accepted."),
    expires: instant("From this instant on it counts no more; at most 90 days after created."),
    ticket: text("Where the work is followed.").optional(),
  })
  .superRefine((value, context) => {
    const complain = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    const { reason, owner, approver } = value;
    // An empty one is told of already.
    if (reason !== "" && !saysSomething(reason)) complain("reason", "must say why");
    if (owner !== "" && !saysSomething(owner)) complain("owner", "must name somebody");
    if (approver !== "" && !saysSomething(approver)) complain("approver", "must name somebody");
    else if (samePerson(value.owner, value.approver))
      complain("approver", "must be another person than the owner");
    const lastsMs = value.expires.getTime() - value.created.getTime();
    if (lastsMs <= 0) complain("expires", "must be after created");
    else if (lastsMs > longestWaiverMs) complain("expires", "must be at most 90 days after created");
  });

export const waiversSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Waivers"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    waivers: z.array(waiver).describe("Each for one item and one scope."),
  }),
});

export type WaiversDocument = z.output<typeof waiversSchema>;

/** Spaces, case and signs that nobody sees make no other person. */
export function samePerson(a: string, b: string): boolean {
  return seen(a).toLowerCase() === seen(b).toLowerCase();
}

/** A letter or a digit that can be seen. */
export function saysSomething(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(seen(text));
}

/** What a reader sees of it: NFKC, without control and format signs, fillers and joiners, one space for many. */
function seen(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\s+/gu, " ")
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/ +/g, " ")
    .trim();
}
