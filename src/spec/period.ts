/** Which business period a fire is for, by the local calendar of the job's zone. */
import type { Period } from "./job-definition.ts";

const calendars = new Map<string, Intl.DateTimeFormat>();

/**
 * The key of the period, `2026-07` for a month and `2026-07-31` for a day: the
 * fire's local month or day in `timeZone`, moved by `period.offset`.
 */
export function periodKey(period: Period, timeZone: string, fireTime: Date): string {
  const { year, month, day } = localDate(timeZone, fireTime);
  // The UTC calendar is only used to add months or days without any clock change in the way.
  const moved =
    period.unit === "month"
      ? utcDay(year, month + period.offset, 1)
      : utcDay(year, month, day + period.offset);
  const text = moved.toISOString().slice(0, 10);
  return period.unit === "month" ? text.slice(0, 7) : text;
}

function utcDay(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

function localDate(timeZone: string, instant: Date): { year: number; month: number; day: number } {
  let calendar = calendars.get(timeZone);
  if (!calendar) {
    calendar = new Intl.DateTimeFormat("en-u-ca-iso8601", {
      timeZone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
    });
    calendars.set(timeZone, calendar);
  }
  const parts = Object.fromEntries(
    calendar.formatToParts(instant).map((part) => [part.type, Number(part.value)]),
  );
  return { year: parts.year!, month: parts.month!, day: parts.day! };
}
