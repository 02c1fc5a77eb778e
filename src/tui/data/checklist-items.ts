/** The items of a checklist run, read from its row with care: another version may have written it. */
import { z } from "zod";

const evidence = z.looseObject({
  kind: z.string().catch("?"),
  what: z.string().catch(""),
  output: z.string().catch(""),
  host: z.string().optional().catch(undefined),
  at: z.string().optional().catch(undefined),
});

const result = z.looseObject({
  scope: z.looseObject({ kind: z.string(), name: z.string() }).optional().catch(undefined),
  verdict: z.string().catch("unknown"),
  message: z.string().catch(""),
  todo: z.string().optional().catch(undefined),
  evidence: z.array(evidence).catch([]),
});

const item = z.looseObject({
  number: z.number(),
  id: z.string().optional().catch(undefined),
  question: z.string().optional().catch(undefined),
  verdict: z.string().catch("unknown"),
  message: z.string().catch(""),
  todo: z.string().optional().catch(undefined),
  why: z.string().optional().catch(undefined),
  how: z.string().optional().catch(undefined),
  open: z
    .array(z.object({ scope: z.object({ kind: z.string(), name: z.string() }), verdict: z.string() }))
    .optional()
    .catch(undefined),
  results: z.array(result).optional().catch(undefined),
});

export type ChecklistItemLook = z.infer<typeof item>;

/** By number. What cannot be read is left out. */
export function itemsOf(items: unknown): ChecklistItemLook[] {
  if (!Array.isArray(items)) return [];
  return items
    .flatMap((one) => {
      const read = item.safeParse(one);
      return read.success ? [read.data] : [];
    })
    .sort((a, b) => a.number - b.number);
}

/** Of the items that apply, how many passed. */
export function scoreOf(items: readonly ChecklistItemLook[]): {
  readonly passed: number;
  readonly asked: number;
} {
  const asked = items.filter(({ verdict }) => verdict !== "not-applicable");
  return { passed: asked.filter(({ verdict }) => verdict === "pass").length, asked: asked.length };
}

const report = z.looseObject({
  kind: z.literal("escapement-checklist-report"),
  runId: z.string(),
  at: z.string(),
  items: z.unknown(),
});

/** A report of the checklist, with its evidence. */
export interface ReportLook {
  readonly runId: string;
  readonly at: string;
  readonly items: readonly ChecklistItemLook[];
}

/** @returns null when the text is no such report */
export function reportOf(text: string): ReportLook | null {
  try {
    const read = report.safeParse(JSON.parse(text));
    return read.success ? { ...read.data, items: itemsOf(read.data.items) } : null;
  } catch {
    return null;
  }
}
