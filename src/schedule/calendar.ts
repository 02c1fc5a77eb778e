/**
 * Days, months and weekdays as integers, without Date. Days are counted from 1970-01-01, weekdays from
 * Sunday = 0, months from January = 0, days of the month from 1.
 */

export const secondsPerDay = 86_400;

/** The 14 shapes a year can have: leap or not, times the weekday of 1 January. All occur within 400 years. */
export const yearShapeCount = 14;

const monthStarts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const leapMonthStarts = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366];

/** Day of the year (from 0) on which each month starts, thirteen entries. */
export function monthStartsOf(leap: boolean): readonly number[] {
  return leap ? leapMonthStarts : monthStarts;
}

export function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** The day number of 1 January. */
export function yearStart(year: number): number {
  const before = year - 1;
  return (
    before * 365 + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 719_162
  );
}

export function yearOfDay(day: number): number {
  const guess = 1970 + Math.floor(day / 365.2425);
  if (day < yearStart(guess)) return guess - 1;
  return day >= yearStart(guess + 1) ? guess + 1 : guess;
}

/** A number below {@link yearShapeCount}; years of one shape have the same calendar. @param startDay the day number of 1 January */
export function yearShape(startDay: number, leap: boolean): number {
  return weekdayOf(startDay) + (leap ? 7 : 0);
}

/** 1970-01-01 was a Thursday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** Month (from 0) that holds a day of the year (from 0). */
export function monthOfYearDay(yearDay: number, leap: boolean): number {
  const starts = monthStartsOf(leap);
  // 32 days a month is never too far: the guess is right or one too small.
  const guess = yearDay >> 5;
  return yearDay >= starts[guess + 1]! ? guess + 1 : guess;
}
