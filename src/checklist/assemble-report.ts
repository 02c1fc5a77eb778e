/** Puts a report together: answers, their places in the repository, waivers, trend, and what it all comes to. */
import type { Waiver } from "../spec/load-waivers.ts";
import { formatProblem, type Problem } from "../spec/problem.ts";
import type { Scope } from "./item.ts";
import { judge } from "./judge.ts";
import type { ChecklistReport, ReportItem, ReportResult } from "./report-schema.ts";
import type { ItemRun } from "./run-items.ts";
import { type RunSummary, trendAgainst } from "./trend.ts";
import { worstOf } from "./verdict.ts";
import { applyWaivers } from "./waivers.ts";

/** What the report is about, besides the answers. */
export type ReportHead = Omit<
  ChecklistReport,
  "items" | "waiverProblems" | "definitionProblems" | "trend" | "outcome" | "reasons" | "signature"
>;

export interface Assembly {
  readonly head: ReportHead;
  readonly runs: readonly ItemRun[];
  readonly waivers: readonly Waiver[];
  /** Of job files; `file` relative to the repository. */
  readonly definitionProblems: readonly Problem[];
  /** Numbers of all items there are. */
  readonly known: readonly number[];
  /** Where in the repository a scope is defined. */
  locate(scope: Scope): { readonly file: string; readonly line: number };
  readonly baseline?: { readonly summary: RunSummary; readonly from: string };
}

export function assembleReport(assembly: Assembly): {
  readonly report: ChecklistReport;
  readonly notNeeded: readonly Waiver[];
} {
  const { head, runs, waivers, known, baseline, locate } = assembly;
  const now = new Date(head.at);
  const measured = runs.map((run) => reportItem(run, assembly));
  const allScopes = head.asked.job === null;
  const { items, problems, notNeeded } = applyWaivers(measured, { waivers, now, known, allScopes });
  const sorted = [...items].sort((a, b) => a.number - b.number);
  const waiverProblems = problems.map((problem) =>
    isInRepository(problem.file) ? problem : { ...problem, ...locate({ kind: "cluster", name: "" }) },
  );
  const parts = {
    ...head,
    items: sorted,
    waiverProblems,
    definitionProblems: assembly.definitionProblems.map((problem) => definitionProblem(problem, assembly)),
  };
  const { outcome, reasons } = judge(parts, now);
  const trend = baseline && trendAgainst(baseline.summary, sorted, now, baseline.from);
  return { report: { ...parts, ...(trend && { trend }), outcome, reasons: [...reasons] }, notNeeded };
}

function definitionProblem(problem: Problem, { locate }: Assembly) {
  const { file, line, column } = problem;
  const place = isInRepository(file) ? { file, line } : locate({ kind: "cluster", name: "" });
  // The place has fields of its own.
  const message = formatProblem({ ...problem, file: "", line: 0 }).trim();
  // A problem of a file as a whole is shown at its beginning.
  return { message, file: place.file, line: Math.max(1, place.line), column: Math.max(1, column) };
}

function reportItem({ item, results, durationMs }: ItemRun, { locate }: Assembly): ReportItem {
  return {
    ...item,
    verdict: worstOf(results.map(({ verdict }) => verdict)),
    durationMs,
    results: results.map(
      ({ location, evidence, scope, ...result }): ReportResult => ({
        ...result,
        scope: { ...scope },
        evidence: evidence.map((one) => ({ ...one })),
        location: placeIn(location) ?? { ...locate(scope) },
      }),
    ),
  };
}

/** A place outside the repository would be refused by those who show the report. */
function placeIn(location: { readonly file: string; readonly line?: number } | undefined) {
  if (!location || !isInRepository(location.file)) return undefined;
  return { file: location.file, line: location.line ?? 1 };
}

/** Relative, not empty, and not above. */
export function isInRepository(file: string): boolean {
  return file !== "" && !file.startsWith("/") && !file.split("/").includes("..");
}
