/**
 * From everything that was seen to one verdict: fail if anything is wrong, else
 * unknown if a clean result would mean nothing, else pass. Pure.
 */
import type { DrillVariant, PassRules } from "../../spec/drill-definition.ts";
import type { RecordedAttempt } from "../../store/drill/drill-records.ts";
import type { DrillOutcome } from "../../store/drill/drill-run.ts";
import type { Verdict } from "../checker.ts";
import type { FindingClass } from "../checkers/finding.ts";
import { clocksThatAreOff } from "./culprit.ts";
import type { ClockPoint, DrillFailure, DrillMeasures, HostAudit } from "./drill-report.ts";
import type { SeenHost } from "./watched-host.ts";

export interface ConclusionQuestion {
  readonly variant: DrillVariant;
  readonly measures: DrillMeasures;
  readonly judged: Verdict | null;
  readonly audits: readonly HostAudit[];
  readonly restored: boolean;
  readonly unproven: readonly string[];
  /** The fault was there: all of it was seen, or all but what the cluster should have made of it. */
  readonly inEffect: boolean;
  /** Names that the comparison of clocks may name, and must: the target, and the database if it is on it. */
  readonly guilty: readonly string[];
  /** What kept the run from meaning anything, as it was noticed. */
  readonly doubts: readonly string[];
}

export interface Conclusion {
  readonly verdict: DrillOutcome;
  readonly reason: string;
  readonly failures: readonly DrillFailure[];
  readonly unknown: readonly string[];
}

export function conclude(question: ConclusionQuestion): Conclusion {
  const { judged, audits, variant, doubts, unproven } = question;
  const failures: DrillFailure[] = [];
  const unknown = [...doubts, ...unproven.map((proof) => `not proven: ${proof}`)];
  if (!question.restored)
    failures.push({ class: "not-restored", detail: "the host did not say that it was restored" });
  if (audits.length === 0) unknown.push("no host was audited");
  for (const { host, residue, unseen } of audits) {
    for (const { what, detail } of residue)
      failures.push({ class: "residue", detail: `${host}: ${what}: ${detail}` });
    for (const what of unseen) unknown.push(`${host} could not be checked for ${what}`);
  }
  // Rules about how the cluster took the fault mean nothing if there was none.
  if (question.inEffect && judged !== null) checkRules(question, failures, unknown);
  const found = judged ? foundClasses(judged, variant.pass) : [];
  if (judged) unknown.push(...judged.unknown);
  else if (doubts.length === 0) unknown.push("it did not come to a judgement");
  const wrong = [...found.map(([name, count]) => `${count} × ${name}`), ...failures.map((one) => one.class)];
  if (wrong.length > 0) {
    const first = judged?.findings.find((one) => found.some(([name]) => name === one.class));
    const detail = failures[0]?.detail ?? (first && `${first.job} ${first.fireTime}: ${first.detail}`);
    return { verdict: "fail", reason: `${wrong.join(", ")}: ${detail ?? ""}`, failures, unknown };
  }
  if (unknown.length > 0) return { verdict: "unknown", reason: unknown.join("; "), failures, unknown };
  return { verdict: "pass", reason: passReason(judged!), failures, unknown };
}

/** Classes of findings that the drill does not allow, with how many there are. */
function foundClasses({ counts }: Verdict, { allowedFailures }: PassRules): [FindingClass, number][] {
  return (Object.entries(counts) as [FindingClass, number][]).filter(
    ([name, count]) => count > 0 && !allowedFailures.includes(name),
  );
}

function passReason({ figures }: Verdict): string {
  return `${figures.shardsDue} shards came due, each had its effect once; ${figures.obligationsInFault} fires were in the fault, which hit ${figures.attemptsHit} attempts`;
}

function checkRules(
  { variant, measures, guilty }: ConclusionQuestion,
  failures: DrillFailure[],
  unknown: string[],
): void {
  const { pass } = variant;
  const within = (name: "takeover-late" | "restart-late", what: string, ms: number | null, most?: number) => {
    if (most === undefined) return;
    if (ms === null) failures.push({ class: name, detail: `${what} was not seen at all` });
    else if (ms > most)
      failures.push({ class: name, detail: `${what} took ${Math.round(ms)} ms; ${most} ms are allowed` });
  };
  within("takeover-late", "the takeover", measures.takeoverMs, pass.takeoverWithinMs);
  within("restart-late", "the restart", measures.restartedMs, pass.restartedWithinMs);
  if (pass.offsetBelowMs !== undefined) {
    const { offsetAfterMs } = measures;
    if (offsetAfterMs === null) unknown.push("the clock of the target was not seen after the restore");
    else if (Math.abs(offsetAfterMs) > pass.offsetBelowMs)
      failures.push({
        class: "clock-left-off",
        detail: `the clock of the target is ${Math.round(offsetAfterMs)} ms off after the restore`,
      });
  }
  if (!pass.culpritNamed) return;
  const named = measures.culprits;
  const right = named.length > 0 && named.every((name) => guilty.includes(name));
  if (!right)
    failures.push({
      class: "culprit-not-named",
      detail: `the comparison of all clocks names ${named.join(", ") || "nobody"}; it is ${guilty.join(" and ")}`,
    });
}

/** The clocks that most comparisons with a majority name; empty when none names anybody. */
export function culpritsOf(comparisons: readonly (readonly ClockPoint[])[]): string[] {
  const votes = new Map<string, number>();
  for (const points of comparisons) {
    const names = clocksThatAreOff(points)?.sort().join(",") ?? "";
    if (names !== "") votes.set(names, (votes.get(names) ?? 0) + 1);
  }
  const [winner] = [...votes].sort((a, b) => b[1] - a[1]);
  return winner ? winner[0].split(",") : [];
}

/**
 * The target's clock as the last look showed it, but for what the look may be wrong by.
 * @returns null where nobody has looked since the restore
 */
export function offsetAfterMs(
  seen: Pick<SeenHost, "atMs" | "offsetMs" | "uncertaintyMs"> | undefined,
  restoredAtMs: number | null,
): number | null {
  if (!seen || restoredAtMs === null || seen.atMs <= restoredAtMs) return null;
  const { offsetMs, uncertaintyMs } = seen;
  return offsetMs === 0 ? 0 : Math.sign(offsetMs) * Math.max(0, Math.abs(offsetMs) - uncertaintyMs);
}

/** From the fault until other attempts had begun for all that it hit; null when some never did. */
export function executorTakeoverMs(
  hit: readonly RecordedAttempt[],
  attempts: readonly RecordedAttempt[],
  faultAtMs: number,
): number | null {
  let longest = 0;
  for (const one of hit) {
    if (one.status === "success") continue;
    const next = attempts.find(
      (other) =>
        other.job === one.job &&
        other.fireTime.getTime() === one.fireTime.getTime() &&
        other.shardNo === one.shardNo &&
        other.fenceToken > one.fenceToken &&
        other.startedAt !== null,
    );
    if (!next?.startedAt) return null;
    longest = Math.max(longest, next.startedAt.getTime() - faultAtMs);
  }
  return hit.length === 0 ? null : longest;
}
