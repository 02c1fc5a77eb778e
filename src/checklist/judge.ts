/**
 * The one evaluator: what a report comes to. A run and the gate on a stored
 * report both ask here, and neither believes an outcome that is written down.
 */
import { formatInstant } from "../base/instant.ts";
import type { ChecklistReport } from "./report-schema.ts";
import type { ItemVerdict, Outcome } from "./verdict.ts";
import { countsAs, scopeText, verdictOf, waiverFault } from "./waivers.ts";

export interface Judgement {
  readonly outcome: Outcome;
  /** Why it is not a pass, the worst first. */
  readonly reasons: readonly string[];
  /** The verdicts of the items at that instant. */
  readonly verdicts: ReadonlyMap<number, ItemVerdict>;
}

type Judged = Pick<
  ChecklistReport,
  "items" | "waiverProblems" | "definitionProblems" | "asked" | "cluster" | "window"
>;

/** Numbers of the items that a whole report has. */
export const allItems: readonly number[] = Array.from({ length: 15 }, (_, i) => i);

/** Retention, and what a month end needs: executions of the last 13 months. */
const leastWindowMs = 395 * 86_400_000;

/** Fail outranks unknown, unknown outranks pass. What was not asked, or not answered, is unknown. */
export function judge(report: Judged, now: Date): Judgement {
  const verdicts = new Map(report.items.map((item) => [item.number, verdictOf(item.results, now)]));
  const failed: string[] = [
    ...report.definitionProblems.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...report.waiverProblems.map(({ message }) => message),
  ];
  const unknown: string[] = [];
  for (const item of report.items) {
    const verdict = verdicts.get(item.number)!;
    if (verdict !== "fail" && verdict !== "unknown") continue;
    const worst = item.results.filter((result) => countsAs(result, now) === verdict);
    const [first] = worst;
    const more = worst.length > 1 ? ` (and ${worst.length - 1} more)` : "";
    const where = first ? `${scopeText(first.scope)}: ${first.message}${more}` : "";
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
  { items, asked, cluster, window }: Judged,
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
  if (cluster.id === null) found.push("the record store was not asked: nobody knows which cluster this is");
  const windowMs = new Date(window.to).getTime() - new Date(window.from).getTime();
  if (!(windowMs >= leastWindowMs))
    found.push("executions were looked at for less than 13 months (--window)");
  if (asked.job !== null) found.push(`only job ${asked.job} was asked about`);
  if (items.length > 0 && [...verdicts.values()].every((verdict) => verdict === "not-applicable"))
    found.push("no item applies: nothing was checked");
  return found;
}
