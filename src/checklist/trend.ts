/** Holds a run against an earlier one: what got better, what got worse, what is new. */
import type { Scope } from "./item.ts";
import type { ReportItem, Trend } from "./report-schema.ts";
import { changeOf, type ItemVerdict, worstOf } from "./verdict.ts";
import { countsAs } from "./waivers.ts";

/** What is kept of a run to hold later ones against it. */
export interface RunSummary {
  readonly at: string;
  readonly commit: string | null;
  readonly items: readonly ItemSummary[];
}

export interface ItemSummary {
  readonly number: number;
  readonly verdict: ItemVerdict;
  /** One sentence about the worst answer. */
  readonly message: string;
  /** Verdicts of the scopes that did not pass, and how many did. */
  readonly open: readonly { readonly scope: Scope; readonly verdict: ItemVerdict }[];
  readonly passed: number;
}

/** @param now when the run was made: waivers count as they did then */
export function summaryOf(items: readonly ReportItem[], now: Date): readonly ItemSummary[] {
  return items.map(({ number, verdict, results }) => {
    const scopes = byScope(results.map((result) => ({ ...result, counts: countsAs(result, now) })));
    const open = scopes.filter((one) => !isDone(one.verdict));
    return {
      number,
      verdict,
      message: results.find((result) => countsAs(result, now) === verdict)?.message ?? "",
      open,
      passed: scopes.length - open.length,
    };
  });
}

/** @param from what the earlier run is called: a file, or the record store */
export function trendAgainst(
  before: RunSummary,
  items: readonly ReportItem[],
  now: Date,
  from: string,
): Trend {
  const changes: Trend["changes"] = [];
  for (const item of summaryOf(items, now)) {
    const earlier = before.items.find(({ number }) => number === item.number);
    if (!earlier) {
      changes.push({ item: item.number, scope: null, before: null, now: item.verdict, change: "new" });
      continue;
    }
    const step = changeOf(earlier.verdict, item.verdict);
    if (step !== 0)
      changes.push({
        item: item.number,
        scope: null,
        before: earlier.verdict,
        now: item.verdict,
        change: step > 0 ? "worse" : "better",
      });
    changes.push(...scopeChanges(earlier, item));
  }
  const count = (change: string) =>
    changes.filter((one) => one.scope === null && one.change === change).length;
  return {
    against: { at: before.at, from, commit: before.commit },
    better: count("better"),
    worse: count("worse"),
    new: count("new"),
    changes,
  };
}

/** Answers within an item: one that opened while another was open before would else be seen by nobody. */
function scopeChanges(before: ItemSummary, now: ItemSummary): Trend["changes"] {
  const key = (scope: Scope) => `${scope.kind} ${scope.name}`;
  const earlier = new Map(before.open.map((one) => [key(one.scope), one.verdict]));
  const changes: Trend["changes"] = [];
  for (const { scope, verdict } of now.open) {
    const old = earlier.get(key(scope));
    earlier.delete(key(scope));
    const step = changeOf(old ?? "pass", verdict);
    if (step !== 0)
      changes.push({
        item: now.number,
        scope: { ...scope },
        before: old ?? null,
        now: verdict,
        change: old === undefined ? "new" : step > 0 ? "worse" : "better",
      });
  }
  for (const one of before.open)
    if (earlier.has(key(one.scope)))
      changes.push({
        item: now.number,
        scope: { ...one.scope },
        before: one.verdict,
        now: "pass",
        change: "better",
      });
  return changes;
}

function byScope(results: readonly { scope: Scope; counts: ItemVerdict }[]) {
  const scopes = new Map<string, { scope: Scope; verdict: ItemVerdict }>();
  for (const { scope, counts } of results) {
    const key = `${scope.kind} ${scope.name}`;
    const before = scopes.get(key);
    scopes.set(key, {
      scope: { kind: scope.kind, name: scope.name },
      verdict: before ? worstOf([before.verdict, counts]) : counts,
    });
  }
  return [...scopes.values()];
}

function isDone(verdict: ItemVerdict): boolean {
  return verdict === "pass" || verdict === "not-applicable";
}
