/** How all formats call the same things: items, scopes, verdicts, evidence. */
import { formatDuration } from "../../base/duration.ts";
import type { ChecklistReport, ReportItem, ReportResult } from "../../checklist/report-schema.ts";
import { type ItemVerdict, worseFirst } from "../../checklist/verdict.ts";
import { countsAs, scopeText } from "../../checklist/waivers.ts";
import { oneLine, visible } from "./visible.ts";

/** A result with what it counts as at the time of the report. */
export interface Answer {
  readonly result: ReportResult;
  readonly counts: ItemVerdict;
}

export const verdictWord: Readonly<Record<ItemVerdict, string>> = {
  pass: "pass",
  fail: "fail",
  unknown: "unknown",
  waived: "waived",
  "not-applicable": "not applicable",
};

/** `03 blocking-policy`: sorts as the list does. */
export function itemName({ number, id }: Pick<ReportItem, "number" | "id">): string {
  return `${String(number).padStart(2, "0")} ${id}`;
}

/** Of one item, what needs work first. */
export function answersOf(item: ReportItem, report: ChecklistReport): readonly Answer[] {
  const now = new Date(report.at);
  return item.results
    .map((result) => ({ result, counts: countsAs(result, now) }))
    .sort((a, b) => worseFirst(a.counts, b.counts));
}

/** Items with the worst first, else by number. */
export function worstItemsFirst(report: ChecklistReport): readonly ReportItem[] {
  return [...report.items].sort((a, b) => worseFirst(a.verdict, b.verdict) || a.number - b.number);
}

/** How many items have which verdict. */
export function tally(report: ChecklistReport): Readonly<Record<ItemVerdict, number>> {
  const counts = { pass: 0, fail: 0, unknown: 0, waived: 0, "not-applicable": 0 };
  for (const { verdict } of report.items) counts[verdict]++;
  return counts;
}

/** `job finance/settlement`; of the cluster with its name. */
export function scopeName({ scope }: ReportResult): string {
  return oneLine(scope.kind === "cluster" ? `cluster ${scope.name}` : scopeText(scope));
}

/** The message, and beside a waiver what the check really said. */
export function sentence({ result, counts }: Answer): string {
  const { waiver, message, verdict } = result;
  if (counts !== "waived" || !waiver) return oneLine(message);
  return oneLine(
    `${message} (measured: ${verdict}; waived until ${waiver.expires} by ${waiver.approver}: ${waiver.reason})`,
  );
}

/** The query or command and what it said, for plain text. */
export function evidenceText({ evidence }: ReportResult): string {
  return evidence
    .map((one) => {
      const where = one.host === undefined ? "" : ` on ${one.host}`;
      const age = one.ageMs === undefined ? "" : `, ${formatDuration(roundAge(one.ageMs))} old`;
      return `${one.kind}${where} at ${one.at}${age}\n  ${indent(one.what)}\n  -> ${indent(one.output)}`;
    })
    .join("\n");
}

/** Whole seconds, and from a day on whole hours: an age is no measurement. */
export function roundAge(ms: number): number {
  const unit = ms >= 86_400_000 ? 3_600_000 : 1_000;
  return Math.max(0, Math.round(ms / unit) * unit);
}

function indent(text: string): string {
  return visible(text).trim().replaceAll("\n", "\n     ");
}
