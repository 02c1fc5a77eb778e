/** The shortest time between two fires of a job, nights on which the clock is changed included. */
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { Schedule } from "../../schedule/schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { nextOffsetChange } from "../../spec/time-zone.ts";

export interface Gap {
  readonly gapMs: number;
  /** The later of the two fires. */
  readonly at: Date;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Enough for a year of hourly fires, or for four hours of fires every five seconds. */
const mostFires = 3_000;

/**
 * Looks a year ahead, as far as 3,000 fires reach, and around every change of the
 * zone's clock within it.
 * @returns null for a job that only people run, or that fires once
 */
export function shortestGap(
  job: Pick<JobDefinition, "schedule" | "timeZone" | "dstGap" | "dstOverlap">,
  from: Date,
): Gap | null {
  const schedule = jobSchedule(job);
  if (!schedule) return null;
  const endMs = from.getTime() + 366 * dayMs;
  let found = within(schedule, from.getTime(), endMs);
  for (const changeMs of changes(job.timeZone, from, endMs)) {
    // Daily and weekly fires have their neighbours days away; frequent ones need the hours around the change.
    found = shorter(found, within(schedule, changeMs - 8 * dayMs, changeMs + 8 * dayMs));
    found = shorter(found, within(schedule, changeMs - 4 * hourMs, changeMs + 28 * hourMs));
    for (let startMs = changeMs - 2 * hourMs; startMs < changeMs + 26 * hourMs; startMs += 2 * hourMs)
      found = shorter(found, within(schedule, startMs, startMs + 3 * hourMs, 200));
  }
  return found;
}

function within(schedule: Schedule, fromMs: number, toMs: number, limit = mostFires): Gap | null {
  const fires = schedule.between(fromMs, toMs, limit);
  let found: Gap | null = null;
  for (let i = 1; i < fires.length; i += 1)
    found = shorter(found, { gapMs: fires[i]! - fires[i - 1]!, at: new Date(fires[i]!) });
  return found;
}

function shorter(a: Gap | null, b: Gap | null): Gap | null {
  if (!a || !b) return a ?? b;
  return b.gapMs < a.gapMs ? b : a;
}

const known = new Map<string, readonly number[]>();

/** Days (00:00 UTC) by which the zone's clock will have been changed. */
function changes(zone: string, from: Date, endMs: number): readonly number[] {
  const today = Math.floor(from.getTime() / dayMs) * dayMs;
  const key = `${zone} ${today}`;
  const before = known.get(key);
  if (before) return before;
  const found: number[] = [];
  let change = nextOffsetChange(zone, new Date(today));
  while (change && change.getTime() <= endMs) {
    // The change itself is somewhere in the day before.
    found.push(change.getTime() - dayMs);
    change = nextOffsetChange(zone, new Date(change.getTime() + dayMs));
  }
  known.set(key, found);
  return found;
}
