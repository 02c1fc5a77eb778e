/**
 * The fires that should exist, from the definitions alone. Each instant is
 * judged by the definition that was in force then; while a job was paused, and
 * before it was known, nothing is expected.
 */
import { messageOf } from "../base/errors.ts";
import { jobSchedule } from "../schedule/job-schedule.ts";
import type { Schedule } from "../schedule/schedule.ts";
import type { WatchedDefinition, WatchedJob } from "./picture.ts";

type Judged = Pick<WatchedJob, "definitions" | "pauses" | "knownSince" | "state" | "stateSince">;

/**
 * A pause takes the plan back a moment before the instant it is recorded with:
 * fires in between are entered when the job is resumed. They are not judged.
 */
const pauseEdgeMs = 5_000;

/** All expected fires in (from, to], ascending, at most `limit`. */
export function expectedFires(
  job: Judged,
  fromMs: number,
  toMs: number,
  limit = Number.POSITIVE_INFINITY,
): number[] {
  const fires: number[] = [];
  const startMs = Math.max(fromMs, job.knownSince.getTime());
  for (const [i, definition] of job.definitions.entries()) {
    const schedule = scheduleOf(definition);
    if (!schedule) continue;
    let fire = schedule.next(Math.max(startMs, definition.effectiveFrom.getTime()));
    const endMs = Math.min(toMs, job.definitions[i + 1]?.effectiveFrom.getTime() ?? toMs);
    while (fire !== null && fire <= endMs && fires.length < limit) {
      const resumedMs = pausedUntil(job, fire);
      if (resumedMs === null) {
        fires.push(fire);
        fire = schedule.next(fire);
      } else {
        fire = schedule.next(resumedMs);
      }
    }
  }
  return fires;
}

/** The first expected fire in (after, to], or null. */
export function nextExpected(job: Judged, afterMs: number, toMs: number): number | null {
  return expectedFires(job, afterMs, toMs, 1)[0] ?? null;
}

/**
 * The period at a fire: the shorter of the evaluator's own gaps before and after
 * it, by the definition in force then; infinity when it fires once only.
 */
export function periodAt(job: Pick<WatchedJob, "definitions">, fireMs: number): number {
  const schedule = scheduleAt(job, fireMs);
  if (!schedule) return Number.POSITIVE_INFINITY;
  const before = schedule.previous(fireMs);
  const after = schedule.next(fireMs);
  return Math.min(
    before === null ? Number.POSITIVE_INFINITY : fireMs - before,
    after === null ? Number.POSITIVE_INFINITY : after - fireMs,
  );
}

/**
 * The period that is usual around a fire: the median of nine gaps. One night on
 * which the clock is changed squeezes two fires together, and means nothing.
 */
export function usualPeriodAt(job: Pick<WatchedJob, "definitions">, fireMs: number): number {
  const schedule = scheduleAt(job, fireMs);
  const gaps: number[] = [];
  let at = fireMs;
  for (
    let before = schedule?.previous(at);
    before != null && gaps.length < 8;
    before = schedule?.previous(at)
  ) {
    gaps.push(at - before);
    at = before;
  }
  const after = schedule?.next(fireMs);
  if (after != null) gaps.push(after - fireMs);
  return gaps.sort((a, b) => a - b)[(gaps.length - 1) >> 1] ?? Number.POSITIVE_INFINITY;
}

/** The definition by which a fire at that instant was planned; before the first one, the first. */
export function definitionAt(job: Pick<WatchedJob, "definitions">, fireMs: number): WatchedDefinition | null {
  return (
    job.definitions.findLast(({ effectiveFrom }) => effectiveFrom.getTime() < fireMs) ??
    job.definitions[0] ??
    null
  );
}

type Compiled = { readonly schedule: Schedule | null } | { readonly unreadable: string };

const compiled = new WeakMap<WatchedDefinition, Compiled>();

/**
 * Why nobody can say here when a definition fires, or null: a zone that this
 * Node does not know, or a row that was written by hand. One such job must not
 * blind the watch over all others; the rule `schedule-unreadable` tells of it.
 */
export function whyUnreadable(definition: WatchedDefinition): string | null {
  const found = compile(definition);
  return "unreadable" in found ? found.unreadable : null;
}

/** Definitions are asked thousands of times a pass; looking a schedule up by its text would cost more than the question. */
function compile(definition: WatchedDefinition): Compiled {
  let found = compiled.get(definition);
  if (found === undefined) {
    try {
      found = { schedule: jobSchedule(definition) };
    } catch (error) {
      found = { unreadable: messageOf(error) };
    }
    compiled.set(definition, found);
  }
  return found;
}

function scheduleOf(definition: WatchedDefinition): Schedule | null {
  const found = compile(definition);
  return "schedule" in found ? found.schedule : null;
}

function scheduleAt(job: Pick<WatchedJob, "definitions">, fireMs: number): Schedule | null {
  const definition = definitionAt(job, fireMs);
  return definition && scheduleOf(definition);
}

/** The instant at which the pause around a fire ends, or null when there is none around it. */
function pausedUntil(job: Judged, fireMs: number): number | null {
  for (const { from, to } of job.pauses) {
    const toMs = to?.getTime() ?? Number.POSITIVE_INFINITY;
    if (fireMs > from.getTime() - pauseEdgeMs && fireMs <= toMs) return toMs;
  }
  return null;
}
