/** What becomes of fires whose time has passed: run late, or recorded as missed with the reason. */
import { formatDuration } from "../base/duration.ts";
import { EscapementError } from "../base/errors.ts";

/** `run-now` catches up, `skip` records and goes on, `within-window` catches up only what is not too old. */
export type MisfirePolicy = "run-now" | "skip" | "within-window";

export interface MisfireQuestion {
  readonly policy: MisfirePolicy;
  /** A fire later than this is misfired; one at most this late is merely started late. */
  readonly thresholdMs: number;
  /** Only for `within-window`: the greatest lateness that is still worth running. */
  readonly windowMs?: number;
  readonly catchUp: {
    /** How many misfired fires of the job may be unfinished at once. */
    readonly maxFires: number;
    /** Which ones to run when there are more than that. They always run oldest first. */
    readonly keep: "oldest" | "newest";
  };
  /** The due fires, ascending. */
  readonly lateFiresMs: readonly number[];
  readonly nowMs: number;
  /** Misfired fires of this job that are already being run or waiting to. */
  readonly alreadyCatchingUp: number;
}

export interface MisfireDecision {
  readonly fireMs: number;
  readonly decision: "run" | "missed";
  /** False for a fire that is within the threshold: it runs as any other and uses up no catch-up. */
  readonly misfired: boolean;
  readonly lateMs: number;
  /** In words, for the record; present whenever the fire is misfired. */
  readonly reason?: string;
}

/**
 * One decision for each due fire, in the order given (oldest first), none left out.
 * @throws E_BUG if the policy is `within-window` and no window is given
 */
export function decideMisfires(question: MisfireQuestion): MisfireDecision[] {
  const { policy, thresholdMs, catchUp, lateFiresMs, nowMs, alreadyCatchingUp } = question;
  const windowMs = windowOf(question);
  const late = (fireMs: number) => nowMs - fireMs;
  const worthRunning = lateFiresMs.filter(
    (fireMs) => policy !== "skip" && late(fireMs) > thresholdMs && late(fireMs) <= windowMs,
  );
  const room = Math.max(0, catchUp.maxFires - alreadyCatchingUp);
  const kept = new Set(
    room >= worthRunning.length || catchUp.keep === "oldest"
      ? worthRunning.slice(0, room)
      : worthRunning.slice(worthRunning.length - room),
  );
  return lateFiresMs.map((fireMs) => {
    const lateMs = late(fireMs);
    if (lateMs <= thresholdMs) return { fireMs, decision: "run", misfired: false, lateMs };
    const lateness = `${formatDuration(lateMs)} late`;
    const missed = (why: string): MisfireDecision => ({
      fireMs,
      decision: "missed",
      misfired: true,
      lateMs,
      reason: `${lateness}; ${why}`,
    });
    if (policy === "skip") return missed("the misfire policy is skip");
    if (lateMs > windowMs) return missed(`the misfire window is ${formatDuration(windowMs)}`);
    if (!kept.has(fireMs)) return missed(capReason(question));
    return { fireMs, decision: "run", misfired: true, lateMs, reason: `${lateness}; caught up` };
  });
}

function windowOf({ policy, windowMs }: MisfireQuestion): number {
  if (policy !== "within-window") return Number.POSITIVE_INFINITY;
  if (windowMs === undefined)
    throw new EscapementError("E_BUG", { what: "misfire policy within-window without a window" });
  return windowMs;
}

function capReason({ catchUp, alreadyCatchingUp }: MisfireQuestion): string {
  const pending = alreadyCatchingUp > 0 ? `, ${alreadyCatchingUp} of them already under way` : "";
  return `catch-up is capped at ${catchUp.maxFires} ${catchUp.maxFires === 1 ? "fire" : "fires"}${pending}, ${catchUp.keep} kept`;
}
