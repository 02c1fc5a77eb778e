/**
 * What the scheduler's own rule makes of fires that were missed, asked of it for
 * one job as the store has it, and held against what its policy says in words.
 */
import { formatDuration } from "../../base/duration.ts";
import { decideMisfires, type MisfireDecision } from "../../schedule/misfire.ts";
import type { AppliedJob } from "../../store/checklist/applied-jobs.ts";

export type LateRule = Pick<AppliedJob, "misfire" | "catchUp">;
/** The rule that schedulers decide by; another one only in tests. */
export type Decide = typeof decideMisfires;

export interface LateFires {
  /** One line a fire, the latest first. */
  readonly lines: readonly string[];
  /** Where the rule does something else than the policy says; undefined: it does what it says. */
  readonly contradiction: string | undefined;
}

const nowMs = Date.UTC(2026, 0, 1);

/** A gap with one fire too many for catch-up beyond the threshold, one at it, and one beyond the window. */
export function lateFires({ misfire, catchUp }: LateRule, decide: Decide = decideMisfires): LateFires {
  const { policy, thresholdMs } = misfire;
  const windowMs = misfire.policy === "within-window" ? misfire.windowMs : Number.POSITIVE_INFINITY;
  const beyond = Array.from(
    { length: catchUp.maxFires + 1 },
    (_, i) => thresholdMs + catchUp.maxFires + 1 - i,
  );
  const lateMs = [...(windowMs < Number.POSITIVE_INFINITY ? [windowMs + 1_000] : []), ...beyond, thresholdMs];
  const decisions = decide({
    ...{ policy, thresholdMs, catchUp, nowMs, alreadyCatchingUp: 0 },
    ...(misfire.policy === "within-window" && { windowMs: misfire.windowMs }),
    lateFiresMs: lateMs.map((ms) => nowMs - ms),
  });
  const worth = beyond.filter((ms) => policy !== "skip" && ms <= windowMs);
  const kept =
    catchUp.maxFires === 0
      ? []
      : catchUp.keep === "oldest"
        ? worth.slice(0, catchUp.maxFires)
        : worth.slice(-catchUp.maxFires);
  const wanted = lateMs.map((ms) => (ms <= thresholdMs || kept.includes(ms) ? "run" : "missed"));
  const wrong = lateMs.findIndex((_, i) => decisions[i]?.decision !== wanted[i]);
  return {
    lines: decisions.map(lineOf),
    contradiction:
      wrong < 0
        ? undefined
        : `the policy is ${policy}, and a fire that is ${formatDuration(lateMs[wrong]!)} late would be ${wanted[wrong] === "run" ? "missed" : "run"}`,
  };
}

function lineOf({ lateMs, decision, reason }: MisfireDecision): string {
  return `${decision}: ${reason ?? `${formatDuration(lateMs)} late, which is not missed yet`}`;
}
