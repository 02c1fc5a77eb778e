/**
 * Which of the failure classes one fire belongs to: schedule, execution and
 * effects put side by side.
 *
 *   no row, or never opened ──▶ never-fired      blocked by policy ──▶ blocked
 *   started, not ended, nobody works on it ──▶ interrupted
 *   failed: it had written something ──▶ partial
 *           other shards succeeded ────▶ shard-failed
 *           killed from outside ───────▶ interrupted
 *   ended, and a second writer was there ──▶ duplicate
 *   started too long after its time ──▶ late
 */
import type { Surroundings } from "../../store/diagnose/surroundings.ts";
import { causeOfDelay } from "./delay-cause.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { type DiagnoseSettings, defaultDiagnoseSettings, type Fire } from "./fire.ts";
import { judgeDoubles } from "./judge-doubles.ts";
import { judgeFailed, judgeUnfinished } from "./judge-failed.ts";
import { judgeBlocked, judgeCancelled, judgeMissed, judgeUnopened } from "./judge-unrun.ts";
import { verdict } from "./verdict.ts";

/** Null: it is fine, under way, or not due. */
export function classify(
  fire: Fire,
  around: Surroundings,
  settings: DiagnoseSettings = defaultDiagnoseSettings,
): Diagnosis | null {
  const main = classifyStatus(fire, around, settings);
  const double = judgeDoubles(fire);
  if (!main) return double;
  if (!double || main.class === "never-fired") return main;
  // A repeated effect must not hide behind a late start; behind a half-written one it stands in `also`.
  if (main.class === "late") return { ...double, also: [...double.also, "late"] };
  return {
    ...main,
    also: [...main.also, "duplicate"],
    text: `${main.text} ${double.text}`,
    evidence: [...main.evidence, ...double.evidence],
  };
}

function classifyStatus(fire: Fire, around: Surroundings, settings: DiagnoseSettings): Diagnosis | null {
  const { execution } = fire;
  const ageMs = around.now.getTime() - fire.fireTime.getTime();
  if (execution === null || execution.revokedAt !== null) {
    if (ageMs <= settings.graceMs) return null;
    if (fire.expected) return judgeUnopened(fire, around);
    return execution ? judgeCancelled(fire) : null;
  }
  switch (execution.status) {
    case "planned":
      // A backfill and a rerun wait for their turn, however old their fire is.
      if (ageMs <= settings.graceMs || execution.runNo > 1 || execution.trigger === "manual") return null;
      return execution.trigger === "misfire"
        ? judgeLate(fire, around, settings)
        : judgeUnopened(fire, around);
    case "missed":
      return judgeMissed(fire, around);
    case "blocked":
      return judgeBlocked(fire);
    case "cancelled":
      return judgeCancelled(fire);
    case "failed":
      return judgeFailed(fire);
    case "pending":
    case "running":
    case "interrupted":
      return judgeUnfinished(fire, around) ?? judgeLate(fire, around, settings);
    case "success":
      return judgeLate(fire, around, settings);
  }
}

function judgeLate(fire: Fire, around: Surroundings, settings: DiagnoseSettings): Diagnosis | null {
  const execution = fire.execution!;
  if (execution.trigger === "manual" || execution.runNo > 1) return null;
  const startedMs = (execution.startedAt ?? around.now).getTime();
  const lateMs =
    execution.missedSeconds === null ? startedMs - fire.fireTime.getTime() : execution.missedSeconds * 1000;
  if (lateMs <= settings.lateMs && execution.trigger !== "misfire") return null;
  const why = causeOfDelay(fire, around);
  const seconds = Math.round(lateMs / 1000);
  const what = execution.startedAt
    ? `It was started ${seconds} s after its time`
    : `It has been waiting for ${seconds} s and is not started`;
  return verdict(fire, "late", why, `${what}: ${why.because}.`);
}
