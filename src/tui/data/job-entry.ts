/** A job as the screens know it, and what can be computed from its definition alone. */
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { DefinitionLook, FireBin, FireLook, JobLook } from "../../store/ui/job-slice.ts";

export interface JobEntry extends JobLook {
  /** `namespace/name`, or the name alone in `default`. */
  readonly label: string;
  readonly definition: DefinitionLook;
  /** What its schedule is, or why it cannot be read on this machine. */
  readonly problem: string | null;
  /** Of the last 24 hours. */
  readonly bins: readonly FireBin[];
  /** The latest, newest first; at most 12. */
  readonly fires: readonly FireLook[];
  /** What went wrong in the last 24 hours, newest first; at most 8. */
  readonly trouble: readonly FireLook[];
  /** Fires of its schedule up to now that have no record at all, at most 100; oldest first. */
  readonly unplannedMs: readonly number[];
}

export interface TroubleRow {
  readonly jobId: number;
  readonly label: string;
  readonly fireMs: number;
  readonly status: "failed" | "missed" | "blocked" | "cancelled" | "no record" | "late";
  readonly reason: string;
}

/** The latest fire that began or ended some way; null without one in 35 days. */
export function lastFire(job: JobEntry): FireLook | null {
  return job.fires[0] ?? null;
}

/** The next fire after `nowMs`, or null: paused, by hand, or its schedule cannot be read here. */
export function nextFireMs(
  job: Pick<JobEntry, "state" | "definition" | "problem">,
  nowMs: number,
): number | null {
  if (job.state !== "active" || job.problem !== null) return null;
  return jobSchedule(job.definition)?.next(nowMs) ?? null;
}

/** From which lateness on a start counts as late: the job's own bound for a misfire. */
export function lateFromMs(definition: DefinitionLook): number {
  return definition.misfire.thresholdMs;
}

/** A planner that is this far behind has lost fires; less is a moment between two of its passes. */
const planningGraceMs = 10_000;
const most = 100;

/** Fires between the cursor and now: nobody has written them down. */
export function unplannedFires(
  job: Pick<JobEntry, "state" | "definition" | "problem" | "plannedUntil">,
  nowMs: number,
): number[] {
  if (job.state !== "active" || job.problem !== null) return [];
  const fromMs = job.plannedUntil.getTime();
  if (fromMs >= nowMs - planningGraceMs) return [];
  return jobSchedule(job.definition)?.between(fromMs, nowMs - planningGraceMs, most) ?? [];
}
