/**
 * The one evaluator: what a report comes to. A run and the gate on a stored
 * report both ask here, and neither believes an outcome that is written down.
 */
import { formatInstant } from "../base/instant.ts";
import { clockSlackMs, doubtOf } from "./doubt.ts";
import type { ChecklistReport } from "./report-schema.ts";
import { type ItemVerdict, type Outcome, worstOf } from "./verdict.ts";
import { countsAs, scopeText, waiverFault } from "./waivers.ts";

export interface Judgement {
  readonly outcome: Outcome;
  /** Why it is not a pass, the worst first. */
  readonly reasons: readonly string[];
  /** The verdicts of the items at that instant. */
  readonly verdicts: ReadonlyMap<number, ItemVerdict>;
}

type Judged = Pick<
  ChecklistReport,
  "items" | "waiverProblems" | "definitionProblems" | "asked" | "cluster" | "window" | "at" | "durationMs"
>;

/** Numbers of the items that a whole report has. */
export const allItems: readonly number[] = Array.from({ length: 15 }, (_, i) => i);

/** Retention, and what a month end needs: executions of the last 13 months. */
const leastWindowMs = 395 * 86_400_000;

/** Fail outranks unknown, unknown outranks pass. What was not asked, or not answered, is unknown. */
export function judge(report: Judged, now: Date): Judgement {
  const judged = report.items.map((item) => ({
    item,
    answers: item.results.map((result) => {
      const doubt = doubtOf(item, result, report, now);
      return { ...result, doubt, counts: doubt === undefined ? countsAs(result, now) : ("unknown" as const) };
    }),
  }));
  const verdicts = new Map<number, ItemVerdict>(
    judged.map(({ item, answers }) => [item.number, worstOf(answers.map(({ counts }) => counts))]),
  );
  const failed: string[] = [
    ...report.definitionProblems.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...report.waiverProblems.map(({ message }) => message),
  ];
  const unknown: string[] = [];
  for (const { item, answers } of judged) {
    const verdict = verdicts.get(item.number)!;
    if (verdict !== "fail" && verdict !== "unknown") continue;
    const worst = answers.filter(({ counts }) => counts === verdict);
    const [first] = worst;
    const more = worst.length > 1 ? ` (and ${worst.length - 1} more)` : "";
    const doubt = first?.doubt === undefined ? "" : ` - not believed: ${first.doubt}`;
    const where = first ? `${scopeText(first.scope)}: ${first.message}${doubt}${more}` : "";
    (verdict === "fail" ? failed : unknown).push(`item ${item.number} ${item.id}: ${verdict}: ${where}`);
    for (const { waiver, scope } of worst) {
      const broken = waiver && waiverFault(waiver);
      if (broken !== undefined)
        failed.push(`the waiver for item ${item.number}, ${scopeText(scope)} ${broken}`);
      if (waiver && now >= new Date(waiver.expires))
        failed.push(
          `the waiver for item ${item.number}, ${scopeText(scope)} has expired at ${formatInstant(new Date(waiver.expires))}; its owner is ${waiver.owner}`,
        );
    }
  }
  unknown.push(...gaps(report, verdicts));
  return {
    outcome: failed.length > 0 ? "fail" : unknown.length > 0 ? "unknown" : "pass",
    reasons: [...failed, ...unknown],
    verdicts,
  };
}

function gaps(
  { items, asked, cluster, window, at }: Judged,
  verdicts: ReadonlyMap<number, ItemVerdict>,
): string[] {
  const missing = allItems.filter((number) => !verdicts.has(number));
  const twice = items.length !== verdicts.size;
  const found: string[] = [];
  if (items.length === 0) found.push("no item has run");
  else if (missing.length > 0)
    found.push(
      `not all items were asked: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`,
    );
  if (twice) found.push("an item is in the report twice");
  const narrowed = asked.items;
  if (missing.length === 0 && narrowed !== null && !allItems.every((number) => narrowed.includes(number)))
    found.push(`only ${narrowed.length === 0 ? "none" : narrowed.join(", ")} of the items were asked`);
  if (cluster.id === null || cluster.id.trim() === "")
    found.push("the record store was not asked: nobody knows which cluster this is");
  const windowMs = new Date(window.to).getTime() - new Date(window.from).getTime();
  if (!(windowMs >= leastWindowMs))
    found.push("executions were looked at for less than 13 months (--window)");
  else if (Math.abs(new Date(window.to).getTime() - new Date(at).getTime()) > clockSlackMs)
    found.push("the executions that were looked at do not end at the time of the run");
  if (asked.job !== null) found.push(`only job ${asked.job} was asked about`);
  if (items.length > 0 && [...verdicts.values()].every((verdict) => verdict === "not-applicable"))
    found.push("no item applies: nothing was checked");
  return found;
}
