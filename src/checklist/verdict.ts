/** The order of verdicts, and what many of them come to. */
import type { Verdict } from "./item.ts";

/** `waived`: open, and somebody accepted that for a time. */
export type ItemVerdict = Verdict | "waived";

/** What a report comes to. Unknown is never a pass. */
export type Outcome = "pass" | "fail" | "unknown";

const rank: Readonly<Record<ItemVerdict, number>> = {
  fail: 4,
  unknown: 3,
  waived: 2,
  pass: 1,
  "not-applicable": 0,
};

/** The worst of them; none at all is unknown. */
export function worstOf(verdicts: readonly ItemVerdict[]): ItemVerdict {
  return verdicts.length === 0 ? "unknown" : verdicts.reduce((a, b) => (rank[b] > rank[a] ? b : a));
}

/** Negative when `a` is worse than `b`: sorts what needs work to the top. */
export function worseFirst(a: ItemVerdict, b: ItemVerdict): number {
  return rank[b] - rank[a];
}

/**
 * From -1 to 1: got better, stayed, got worse. A pass and not applicable are
 * alike: nothing to do. What was open and is waived by now has stayed: nothing
 * was mended.
 */
export function changeOf(before: ItemVerdict, now: ItemVerdict): -1 | 0 | 1 {
  if (now === "waived" && (before === "fail" || before === "unknown")) return 0;
  const step = (verdict: ItemVerdict) => Math.max(1, rank[verdict]);
  return Math.sign(step(now) - step(before)) as -1 | 0 | 1;
}
