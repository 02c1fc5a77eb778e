/** Whether a drill of the timetable may begin at an instant. Asked again when it fires, by the database's time. Pure. */
import { formatDuration } from "../../base/duration.ts";
import {
  isLeap,
  monthOfYearDay,
  monthStartsOf,
  secondsPerDay,
  weekdayOf,
  yearOfDay,
  yearStart,
} from "../../schedule/calendar.ts";
import { type Zone, zoneOf } from "../../schedule/zone.ts";
import type { DrillScheduleDefinition, PeakDay } from "../../spec/drill-schedule-definition.ts";
import { weekdayNames } from "../../spec/drill-schedule-schema.ts";
import { clock } from "./timetable.ts";

/**
 * Why no drill may begin then; null when one may. It must be over before whatever it must not meet.
 * @param awayFromPeakMs of the drill, where it wants to stay further away than the timetable
 */
export function closedBecause(
  schedule: DrillScheduleDefinition,
  at: Date,
  awayFromPeakMs = 0,
): string | null {
  const from = at.getTime();
  const to = from + schedule.timeoutMs;
  return (
    outsideHours(schedule, from) ??
    frozen(schedule, from, to) ??
    nearPeak(schedule, from, to, Math.max(schedule.awayFromPeakMs, awayFromPeakMs)) ??
    tooLate(schedule, from)
  );
}

function outsideHours({ officeHours, timeZone }: DrillScheduleDefinition, fromMs: number): string | null {
  const local = localSec(zoneOf(timeZone), fromMs);
  const weekday = weekdayOf(Math.floor(local / secondsPerDay));
  const minute = Math.floor((local % secondsPerDay) / 60);
  const { weekdays, fromMinute, toMinute } = officeHours;
  if (!weekdays.some((day) => day === weekday)) return `nobody is there on a ${weekdayNames[weekday]}`;
  if (minute < fromMinute || minute >= toMinute)
    return `${clock(minute)} is outside the office hours, ${clock(fromMinute)} to ${clock(toMinute)} ${timeZone}`;
  return null;
}

/** In whole minutes, as slots are drawn: the last of them may begin, and it does so a few seconds late. */
function tooLate(
  { officeHours, timeZone, timeoutMs }: DrillScheduleDefinition,
  fromMs: number,
): string | null {
  const minute = Math.floor((localSec(zoneOf(timeZone), fromMs) % secondsPerDay) / 60);
  if (minute + Math.ceil(timeoutMs / 60_000) <= officeHours.toMinute) return null;
  return `${clock(minute)} is too late: a drill may take ${formatDuration(timeoutMs)}, and the office hours end at ${clock(officeHours.toMinute)} ${timeZone}`;
}

function frozen({ freezes }: DrillScheduleDefinition, fromMs: number, toMs: number): string | null {
  for (const { from, to, reason } of freezes)
    if (fromMs < Date.parse(to) && toMs > Date.parse(from)) return `frozen from ${from} to ${to}: ${reason}`;
  return null;
}

function nearPeak(
  { peakDays, timeZone }: DrillScheduleDefinition,
  fromMs: number,
  toMs: number,
  awayMs: number,
): string | null {
  const zone = zoneOf(timeZone);
  const first = Math.floor(localSec(zone, fromMs - awayMs) / secondsPerDay) - 1;
  const last = Math.floor(localSec(zone, toMs + awayMs) / secondsPerDay) + 1;
  for (let day = first; day <= last; day++) {
    const peak = peakDays.find((one) => isPeak(one, day));
    if (!peak) continue;
    const start = midnightMs(zone, day, "earliest");
    const end = midnightMs(zone, day + 1, "latest");
    if (toMs > start - awayMs && fromMs < end + awayMs)
      return `less than ${formatDuration(awayMs)} from ${dateOf(day)}, a peak day: ${peak.reason}`;
  }
  return null;
}

function isPeak(peak: PeakDay, day: number): boolean {
  if (peak.kind === "date") return dateOf(day) === peak.date;
  const year = yearOfDay(day);
  const yearDay = day - yearStart(year);
  const starts = monthStartsOf(isLeap(year));
  const month = monthOfYearDay(yearDay, isLeap(year));
  const ofMonth = yearDay - starts[month]! + 1;
  return peak.day > 0 ? ofMonth === peak.day : ofMonth === starts[month + 1]! - starts[month]! + peak.day + 1;
}

/** `2026-12-24`, of a day counted from 1970. */
function dateOf(day: number): string {
  return new Date(day * secondsPerDay * 1_000).toISOString().slice(0, 10);
}

function localSec(zone: Zone, ms: number): number {
  const sec = Math.floor(ms / 1_000);
  return sec + zone.offsetAt(sec);
}

/** Where the clocks change about midnight there are two answers: the one further out is taken. */
function midnightMs(zone: Zone, day: number, which: "earliest" | "latest"): number {
  const local = day * secondsPerDay;
  const offsets = [zone.offsetAt(local - secondsPerDay), zone.offsetAt(local + secondsPerDay)];
  return (local - (which === "earliest" ? Math.max(...offsets) : Math.min(...offsets))) * 1_000;
}
