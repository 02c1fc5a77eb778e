/** Fires that were never started: no row, never opened, missed, blocked, cancelled. */
import type { Surroundings } from "../../store/diagnose/surroundings.ts";
import { causeOfDelay } from "./delay-cause.ts";
import type { Cause, Diagnosis, Evidence } from "./diagnosis.ts";
import { executionEvidence, type Fire } from "./fire.ts";
import { type Reading, reading } from "./reading.ts";
import { verdict } from "./verdict.ts";

/** No execution, or one that was planned and never opened. */
export function judgeUnopened(fire: Fire, around: Surroundings): Diagnosis {
  const { execution, fireTime, inTheWay } = fire;
  if (execution?.live === "held" && inTheWay) {
    const why = causeOfDelay(fire, around);
    return verdict(fire, "blocked", why, `It is due and not started: ${why.because}.`);
  }
  if (execution === null && fire.passed) {
    const text =
      "The scheduler's cursor has passed it, and yet there is no row: the row was taken away by hand.";
    return verdict(
      fire,
      "never-fired",
      reading("record-missing", true, "its row is gone", expected(fire)),
      text,
    );
  }
  const why = causeOfDelay(fire, around);
  const what =
    execution === null || execution.revokedAt !== null
      ? `By the schedule in force it was due at ${fireTime.toISOString()}, and there is no execution`
      : "It was planned, and never opened";
  const whole = execution === null ? { ...why, evidence: [...expected(fire), ...why.evidence] } : why;
  return verdict(fire, "never-fired", whole, `${what}: ${why.because}.`);
}

function expected({ fireTime, job }: Fire): Evidence[] {
  return [{ from: "definition", row: { job, fireTime, expected: true } }];
}

/** Recorded as missed: something made it late, and the misfire policy did the rest. */
export function judgeMissed(fire: Fire, around: Surroundings): Diagnosis {
  const reason = fire.execution!.reason ?? "";
  if (reason.startsWith("not caught up")) {
    const why = reading("chain-broken", true, reason);
    return verdict(fire, "never-fired", why, `It was ${reason}.`);
  }
  const why = causeOfDelay(fire, around);
  const policy = /policy is skip/.test(reason);
  const text = `It was late, because ${why.because}. It was then recorded as missed: ${reason || "no reason given"}.`;
  return verdict(fire, "never-fired", why, text, { intended: policy && why.cause === "earlier-run" });
}

export function judgeBlocked(fire: Fire): Diagnosis {
  const reason = fire.execution!.reason ?? "no reason given";
  if (/^period .* already has an execution/.test(reason))
    return verdict(fire, "blocked", reading("period-taken", true, reason), `It was not run: ${reason}.`);
  const { inTheWay } = fire;
  const why = reading("earlier-run", true, reason, inTheWay ? [executionEvidence(inTheWay)] : []);
  return verdict(
    fire,
    "blocked",
    why,
    `It was not run, since the job's earlier run had not ended: ${reason}.`,
  );
}

const cancellations: readonly (readonly [pattern: RegExp, cause: Cause])[] = [
  [/^the job was paused|when the job was paused/, "paused"],
  [/^the job was deleted|when the job was deleted/, "deleted"],
  [/^the definition was changed/, "edited"],
  [/^replaced by the fire of/, "replaced"],
];

/** Cancelled: by a person, by a pause, or by a newer fire. */
export function judgeCancelled(fire: Fire): Diagnosis {
  const { startedAt, reason } = fire.execution!;
  const cause = cancellations.find(([pattern]) => pattern.test(reason ?? ""))?.[1] ?? "cancelled";
  const why: Reading = reading(cause, true, reason ?? "cancelled");
  const kind = startedAt ? "interrupted" : cause === "replaced" ? "blocked" : "never-fired";
  const what = startedAt ? "It was stopped while it ran" : "It was not run";
  return verdict(fire, kind, why, `${what}: ${reason ?? "cancelled, no reason given"}.`, { intended: true });
}
