/**
 * The exactly-once checker. It reads a history and says pass, fail or unknown:
 * fail if anything is wrong, else unknown if the clean result would mean
 * nothing, else pass.
 */
import { checkAccounting } from "./checkers/accounting.ts";
import { checkApplied } from "./checkers/applied.ts";
import { checkClaims } from "./checkers/claims.ts";
import { type Finding, type FindingClass, findingClasses } from "./checkers/finding.ts";
import { buildLedger, type Ledger } from "./checkers/ledger.ts";
import { checkTiming } from "./checkers/timing.ts";
import { countObligationsInFault, vacuityReasons } from "./checkers/vacuity.ts";
import type { History } from "./history.ts";

export interface Verdict {
  readonly outcome: "pass" | "fail" | "unknown";
  /** Violations of each class; every class is there, most with 0. */
  readonly counts: Record<FindingClass, number>;
  /** The violations themselves, at most {@link shownPerClass} of each class. */
  readonly findings: readonly Finding[];
  /** Why a clean result would not be a pass. */
  readonly unknown: readonly string[];
  readonly figures: Figures;
}

/** What the history held, for the report. */
export interface Figures {
  readonly obligations: number;
  /** Shards that had to take effect exactly once. */
  readonly shardsDue: number;
  readonly attempts: number;
  readonly effects: number;
  /** Effects that a newer claim applied again, as `replace` allows. */
  readonly repeats: number;
  readonly staleRefused: number;
  readonly repeatsRefused: number;
  readonly faults: number;
  readonly obligationsInFault: number;
  readonly attemptsHit: number;
  /** Times two processes of a shard were alive together because a fault left the older unsupervised. */
  readonly overlapsExcused: number;
}

/** Violations of one class that a verdict lists; all are counted. */
export const shownPerClass = 50;

/** Judges a history. Pure; O(n log n). */
export function judge(history: History): Verdict {
  const counts = Object.fromEntries(Object.keys(findingClasses).map((name) => [name, 0])) as Record<
    FindingClass,
    number
  >;
  const findings: Finding[] = [];
  const report = (finding: Finding) => {
    counts[finding.class]++;
    if (counts[finding.class] <= shownPerClass) findings.push(finding);
  };
  const ledger = buildLedger(history);
  checkAccounting(ledger, report);
  checkApplied(ledger, report);
  const { overlapsExcused } = checkClaims(ledger, report);
  checkTiming(ledger, report);
  const unknown = vacuityReasons(ledger);
  const outcome = findings.length > 0 ? "fail" : unknown.length > 0 ? "unknown" : "pass";
  return { outcome, counts, findings, unknown, figures: figuresOf(ledger, overlapsExcused) };
}

/** Several verdicts as one: fail before unknown before pass; none at all is unknown. */
export function worstOutcome(outcomes: readonly Verdict["outcome"][]): Verdict["outcome"] {
  if (outcomes.includes("fail")) return "fail";
  return outcomes.length === 0 || outcomes.includes("unknown") ? "unknown" : "pass";
}

function figuresOf(ledger: Ledger, overlapsExcused: number): Figures {
  const { history } = ledger;
  const proven = history.faults.filter((fault) => fault.proven);
  let repeats = 0;
  for (const { shards } of ledger.fires.values()) {
    for (const { effects } of shards.values()) repeats += Math.max(0, effects.length - 1);
  }
  return {
    obligations: history.obligations.length,
    shardsDue: history.obligations.reduce(
      (sum, o) => sum + (o.allowed === "exactly-one" ? o.shardCount : 0),
      0,
    ),
    attempts: history.attempts.length,
    effects: history.effects.length,
    repeats,
    staleRefused: history.refusals.filter((refusal) => refusal.reason === "stale").length,
    repeatsRefused: history.refusals.filter((refusal) => refusal.reason === "repeat").length,
    faults: proven.length,
    obligationsInFault: countObligationsInFault(ledger),
    attemptsHit: proven.reduce((sum, fault) => sum + fault.attemptsHit, 0),
    overlapsExcused,
  };
}
