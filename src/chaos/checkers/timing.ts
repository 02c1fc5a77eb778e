/**
 * Did fires start when their definition allows? Finds early, late and
 * misfire-mishandled, by the database clock.
 */
import type { Obligation } from "../history.ts";
import type { Report } from "./finding.ts";
import { type FireEntry, isClosed, type Ledger } from "./ledger.ts";

export function checkTiming(ledger: Ledger, report: Report): void {
  const { earlyMs, lateMs } = ledger.history.limits;
  for (const fire of ledger.fires.values()) {
    const { obligation } = fire;
    if (!obligation) continue;
    const delayMs = startDelayMs(fire);
    const told = (kind: "early" | "late" | "misfire-mishandled", detail: string) =>
      report({ job: fire.job, fireTime: fire.fireTime, class: kind, detail });
    if (delayMs !== undefined && delayMs < -earlyMs)
      told("early", `started ${-delayMs} ms before the fire time`);
    const mishandled = misfireProblem(ledger, fire, obligation, delayMs);
    if (mishandled) told("misfire-mishandled", mishandled);
    else if (
      lateMs !== null &&
      // Somebody else's job may have waited for a slot, or in line.
      !obligation.recordsOnly &&
      delayMs !== undefined &&
      delayMs > lateMs &&
      fire.executions[0]?.trigger !== "misfire"
    )
      told("late", `started ${delayMs} ms after the fire time; at most ${lateMs} ms are allowed`);
  }
}

/** Milliseconds from the fire time to the first start of any shard; undefined if nothing started. */
function startDelayMs(fire: FireEntry): number | undefined {
  let first: string | undefined;
  for (const { attempts } of fire.shards.values()) {
    for (const { startedAt } of attempts) {
      if (startedAt !== null && (first === undefined || startedAt < first)) first = startedAt;
    }
  }
  return first === undefined ? undefined : Date.parse(first) - Date.parse(fire.fireTime);
}

function misfireProblem(
  ledger: Ledger,
  fire: FireEntry,
  obligation: Obligation,
  delayMs: number | undefined,
): string | undefined {
  const execution = fire.executions[0];
  const ran = [...fire.shards.values()].some(
    (entry) => entry.effects.length + entry.attempts.length + entry.sightings.length > 0,
  );
  if (obligation.allowed === "none" && obligation.because === "missed") {
    if (ran) return "ran although it had to be skipped";
    const judged = ledger.executionsKnown && isClosed(ledger, fire.fireTime);
    if (judged && !(execution?.status === "missed" && execution.reason))
      return "skipped, but not recorded as missed with a reason";
  }
  const { misfire } = obligation;
  if (!misfire || obligation.allowed === "none") return undefined;
  if (execution?.status === "missed") {
    if (ran) return "recorded as missed, but it ran";
    if (misfire.policy === "run-now" && obligation.allowed === "exactly-one")
      return "the policy is run-now, but it was skipped";
  }
  if (delayMs === undefined) return undefined;
  if (misfire.policy === "skip" && delayMs > misfire.graceMs)
    return `the policy is skip, but it started ${delayMs} ms after its time`;
  if (misfire.policy === "within-window" && delayMs > misfire.windowMs!)
    return `started ${delayMs} ms after its time; the window is ${misfire.windowMs} ms`;
  return undefined;
}
