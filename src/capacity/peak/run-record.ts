/** One finished run as the forecast needs it, and the days that matter to it. */

export interface RunRecord {
  /** When it should have started. */
  readonly fireTime: Date;
  /** Business rows it worked through. */
  readonly rows: number;
  readonly durationMs: number;
}

/** A calendar day: 2026-07-31. */
export type Day = string;

export interface Calendar {
  /** Zone whose days count. */
  readonly timeZone: string;
  /** The run of a day works on the data of so many days later; −1 for the day before. */
  readonly dayOffset: number;
  readonly promotions: readonly Day[];
}

const dayMs = 86_400_000;

/** The calendar day whose data a run at this instant works on. */
export function dayOf(instant: Date, { timeZone, dayOffset }: Calendar): Day {
  const parts = formatOf(timeZone).formatToParts(instant);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return addDays(isoDay(part("year"), part("month"), part("day")), dayOffset);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      calendar: "gregory",
    });
    formats.set(timeZone, format);
  }
  return format;
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

/** Days from one to another. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs);
}

export function isMonthEnd(day: Day): boolean {
  return addDays(day, 1).endsWith("-01");
}

export function isQuarterEnd(day: Day): boolean {
  return isMonthEnd(day) && Number(day.slice(5, 7)) % 3 === 0;
}

export function isWeekend(day: Day): boolean {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekday === 0 || weekday === 6;
}

function isoDay(year: number, month: number, day: number): Day {
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
