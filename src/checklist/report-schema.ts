/**
 * The report: what was asked, of what, and what was seen. One shape, written
 * by a run and read back by the gate, by verify and as a baseline. New fields
 * may come; a reader passes over those it does not know.
 */
import { z } from "zod";

const instant = z.iso.datetime();
const verdict = z.enum(["pass", "fail", "unknown", "not-applicable"]);
const itemVerdict = z.enum(["pass", "fail", "unknown", "not-applicable", "waived"]);
const outcome = z.enum(["pass", "fail", "unknown"]);
const scope = z.object({ kind: z.enum(["cluster", "host", "job"]), name: z.string() });
const count = z.int().min(0);

const evidence = z.object({
  kind: z.enum(["query", "command", "file", "drill", "computed"]),
  what: z.string().min(1),
  output: z.string(),
  host: z.string().optional(),
  at: instant,
  ageMs: z.number().optional(),
  /** One of the ages of `context.ts`; a later version may have more of them. */
  fact: z.string().optional(),
});

/** The waiver that covers a result, whole: the reader of a report may not have the file. */
const waiver = z.object({
  reason: z.string(),
  owner: z.string(),
  approver: z.string(),
  created: instant,
  expires: instant,
  ticket: z.string().optional(),
  file: z.string(),
  line: count,
});

const result = z.object({
  scope,
  /** As measured, also beside a waiver. */
  verdict,
  message: z.string(),
  todo: z.string().optional(),
  evidence: z.array(evidence),
  location: z.object({ file: z.string().min(1), line: count }),
  waiver: waiver.optional(),
});

const item = z.object({
  number: z.int().min(0).max(14),
  id: z.string(),
  question: z.string(),
  why: z.string(),
  how: z.string(),
  /** With waivers taken into account. */
  verdict: itemVerdict,
  durationMs: z.number(),
  results: z.array(result).min(1),
});

/** A waiver that does not do what its author thinks. It makes the outcome a failure. */
const waiverProblem = z.object({
  kind: z.enum(["expired", "unmatched", "unknown-item", "not-begun"]),
  message: z.string(),
  item: count,
  file: z.string().min(1),
  line: count,
  column: count,
});

/** A job file that became no job: nobody can say what it would have done. It makes the outcome a failure. */
const definitionProblem = z.object({
  message: z.string(),
  file: z.string().min(1),
  line: count,
  column: count,
});

const trend = z.object({
  /** The report or the recorded run that this one is held against. */
  against: z.object({ at: instant, from: z.string(), commit: z.string().nullable() }),
  better: count,
  worse: count,
  new: count,
  changes: z.array(
    z.object({
      item: count,
      /** Null: the item as a whole. */
      scope: scope.nullable(),
      /** Null: it was not there. */
      before: itemVerdict.nullable(),
      now: itemVerdict,
      change: z.enum(["better", "worse", "new"]),
    }),
  ),
});

const signature = z.object({
  algorithm: z.literal("ed25519"),
  /** SHA-256 of the public key (DER, SubjectPublicKeyInfo), hex. */
  key: z.string(),
  /** Base64. */
  value: z.string(),
});

export const reportSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal("escapement-checklist-report"),
  tool: z.object({ version: z.string() }),
  runId: z.string(),
  /** When it began; `clock` says whose clock that is. */
  at: instant,
  clock: z.enum(["database", "local"]),
  durationMs: z.number(),
  person: z.string(),
  /** `id` is null when the store could not be asked. */
  cluster: z.object({ id: z.string().min(1).nullable(), name: z.string() }),
  /** `clean`: the files are those of the commit; null when nobody could tell. */
  commit: z.object({ id: z.string().nullable(), clean: z.boolean().nullable() }),
  definitions: z.object({ digest: z.string(), jobs: count }),
  window: z.object({ from: instant, to: instant }),
  tier: z.enum(["hosts", "machines"]),
  hosts: z.array(
    z.object({
      name: z.string(),
      roles: z.array(z.string()),
      failureDomain: z.string(),
      container: z.string().optional(),
      reached: z.boolean(),
    }),
  ),
  /** What the run was narrowed to; null: not at all. */
  asked: z.object({ items: z.array(count).nullable(), job: z.string().nullable() }),
  items: z.array(item),
  waiverProblems: z.array(waiverProblem),
  definitionProblems: z.array(definitionProblem),
  trend: trend.optional(),
  outcome,
  /** Why it is not a pass, one sentence each. */
  reasons: z.array(z.string()),
  signature: signature.optional(),
});

export type ChecklistReport = z.output<typeof reportSchema>;
export type ReportItem = z.output<typeof item>;
export type ReportResult = z.output<typeof result>;
export type ReportWaiver = z.output<typeof waiver>;
export type WaiverProblem = z.output<typeof waiverProblem>;
export type Trend = z.output<typeof trend>;
