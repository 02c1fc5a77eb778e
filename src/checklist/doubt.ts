/**
 * What makes a good answer of a stored report no answer. A report that is not
 * signed may have been edited: an answer that no run can give is not believed.
 * Who writes a whole report by hand is stopped by a signature alone.
 */
import { formatDuration } from "../base/duration.ts";
import { defaultEvidenceAges } from "./context.ts";
import type { AgedFact } from "./item.ts";
import type { ChecklistReport, ReportItem, ReportResult } from "./report-schema.ts";

type Made = Pick<ChecklistReport, "at" | "durationMs">;
type Shown = ReportResult["evidence"][number];

/** Clocks of two machines differ a little. */
export const clockSlackMs = 300_000;

/** Items with an answer that there is nothing to ask: jobs that only people run. */
const mayNotApply: ReadonlySet<number> = new Set([8, 14]);
/** Of these some part always applies. */
const neverThroughout: ReadonlySet<number> = new Set([8]);

/** Items that look at drills of days ago. */
const ofDrills: ReadonlySet<number> = new Set([11, 12]);

/**
 * What counts for a time, in words. What daemons write all the time is not among it: like every other look at
 * the cluster it is as old as the report, and that has its own limit (`--max-age`).
 */
const words: Readonly<Record<AgedFact, string>> = {
  drill: "drill",
  backup: "backup",
  restore: "restore",
  testAlert: "test alert",
  archive: "archive",
  archiveRestore: "restore",
};

/** @returns why a pass, or a "not applicable", counts as unknown; undefined when it stands */
export function doubtOf(
  item: Pick<ReportItem, "number" | "results">,
  { verdict, evidence }: ReportResult,
  report: Made,
  now: Date,
): string | undefined {
  if (verdict !== "pass" && verdict !== "not-applicable") return undefined;
  if (verdict === "not-applicable") {
    if (!mayNotApply.has(item.number)) return "this question always applies";
    if (neverThroughout.has(item.number) && item.results.every((one) => one.verdict === verdict))
      return "this question always applies to something";
  }
  const shown = evidence.filter(showsSomething);
  if (shown.length === 0) return "it shows no evidence";
  // A drill is told with the time at which it ended, everything else with the time at which it was looked at.
  const isDrill = ({ kind }: Shown) => kind === "drill" && ofDrills.has(item.number);
  if (!shown.every((one) => isOfTheRun(one.at, report, isDrill(one))))
    return "its evidence is not of this run";
  const youngest = new Map<AgedFact, number>();
  for (const one of shown) {
    const fact = isDrill(one) ? "drill" : one.fact;
    if (!isAged(fact)) continue;
    const sinceMs = now.getTime() - new Date(one.at).getTime();
    const ageMs = isDrill(one) ? sinceMs : (one.ageMs ?? Number.POSITIVE_INFINITY) + sinceMs;
    youngest.set(fact, Math.min(ageMs, youngest.get(fact) ?? ageMs));
  }
  for (const [fact, ageMs] of youngest) {
    const limitMs = defaultEvidenceAges[fact];
    if (ageMs > limitMs) return `the last ${words[fact]} is older than ${formatDuration(limitMs)} by now`;
  }
  return undefined;
}

function isAged(fact: string | undefined): fact is AgedFact {
  return fact !== undefined && Object.hasOwn(words, fact);
}

/** An empty question or an empty answer is nothing that anybody could look at. */
export function showsSomething({ what, output }: { readonly what: string; readonly output: string }) {
  return what.trim() !== "" && output.trim() !== "";
}

function isOfTheRun(at: string, report: Made, mayBeOlder: boolean): boolean {
  const sinceMs = new Date(at).getTime() - new Date(report.at).getTime();
  return (mayBeOlder || sinceMs >= -clockSlackMs) && sinceMs <= report.durationMs + clockSlackMs;
}
