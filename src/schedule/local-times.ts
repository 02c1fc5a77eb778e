/**
 * The local times that a cron expression names, as one endless ascending list, without any zone. A local
 * time is a count of seconds since 1970-01-01 00:00 on the same wall clock.
 */
import {
  isLeap,
  monthOfYearDay,
  monthStartsOf,
  secondsPerDay,
  yearOfDay,
  yearShape,
  yearShapeCount,
  yearStart,
} from "./calendar.ts";
import { type DayFields, DayPicker } from "./cron-days.ts";

/** The days of all years of one shape. */
interface YearDays {
  /** Bit m is set if month m (from 0) has a day. */
  readonly months: number;
  /** For each month its days; bit 0 is day 1. */
  readonly days: Int32Array;
}

export class LocalTimes {
  readonly #seconds: Steps;
  readonly #minutes: Steps;
  readonly #hours: Steps;
  readonly #months: readonly number[];
  readonly #picker: DayPicker;
  readonly #years: (YearDays | undefined)[] = new Array(yearShapeCount).fill(undefined);
  readonly #firstOfDay: number;
  readonly #lastOfDay: number;

  /** @param months from 1, as written in cron */
  constructor(
    seconds: readonly number[],
    minutes: readonly number[],
    hours: readonly number[],
    months: readonly number[],
    days: DayFields,
  ) {
    this.#seconds = new Steps(seconds, 60);
    this.#minutes = new Steps(minutes, 60);
    this.#hours = new Steps(hours, 24);
    this.#months = months.map((month) => month - 1);
    this.#picker = new DayPicker(days);
    this.#firstOfDay = this.#hours.first * 3600 + this.#minutes.first * 60 + this.#seconds.first;
    this.#lastOfDay = this.#hours.last * 3600 + this.#minutes.last * 60 + this.#seconds.last;
  }

  /** True if no day of any year matches. */
  isEmpty(): boolean {
    for (let shape = 0; shape < yearShapeCount; shape++) if (this.#year(shape).months !== 0) return false;
    return true;
  }

  /** The first local time at or after `from`. The list must not be empty. */
  atOrAfter(from: number): number {
    const day = Math.floor(from / secondsPerDay);
    if (this.#hasDay(day)) {
      const time = this.#timeAtOrAfter(from - day * secondsPerDay);
      if (time >= 0) return day * secondsPerDay + time;
    }
    return this.#dayAtOrAfter(day + 1) * secondsPerDay + this.#firstOfDay;
  }

  /** The last local time at or before `to`. The list must not be empty. */
  atOrBefore(to: number): number {
    const day = Math.floor(to / secondsPerDay);
    if (this.#hasDay(day)) {
      const time = this.#timeAtOrBefore(to - day * secondsPerDay);
      if (time >= 0) return day * secondsPerDay + time;
    }
    return this.#dayAtOrBefore(day - 1) * secondsPerDay + this.#lastOfDay;
  }

  #timeAtOrAfter(time: number): number {
    const hour = (time / 3600) | 0;
    const minute = ((time / 60) | 0) % 60;
    if (this.#hours.has(hour)) {
      if (this.#minutes.has(minute)) {
        const second = this.#seconds.atOrAfter(time % 60);
        if (second >= 0) return hour * 3600 + minute * 60 + second;
      }
      const later = this.#minutes.atOrAfter(minute + 1);
      if (later >= 0) return hour * 3600 + later * 60 + this.#seconds.first;
    }
    const later = this.#hours.atOrAfter(hour + 1);
    return later < 0 ? -1 : later * 3600 + this.#minutes.first * 60 + this.#seconds.first;
  }

  #timeAtOrBefore(time: number): number {
    const hour = (time / 3600) | 0;
    const minute = ((time / 60) | 0) % 60;
    if (this.#hours.has(hour)) {
      if (this.#minutes.has(minute)) {
        const second = this.#seconds.atOrBefore(time % 60);
        if (second >= 0) return hour * 3600 + minute * 60 + second;
      }
      const earlier = this.#minutes.atOrBefore(minute - 1);
      if (earlier >= 0) return hour * 3600 + earlier * 60 + this.#seconds.last;
    }
    const earlier = this.#hours.atOrBefore(hour - 1);
    return earlier < 0 ? -1 : earlier * 3600 + this.#minutes.last * 60 + this.#seconds.last;
  }

  #hasDay(day: number): boolean {
    const year = yearOfDay(day);
    const start = yearStart(year);
    const leap = isLeap(year);
    const month = monthOfYearDay(day - start, leap);
    const bit = 1 << (day - start - monthStartsOf(leap)[month]!);
    return (this.#year(yearShape(start, leap)).days[month]! & bit) !== 0;
  }

  #dayAtOrAfter(day: number): number {
    let year = yearOfDay(day);
    let start = yearStart(year);
    let leap = isLeap(year);
    const month = monthOfYearDay(day - start, leap);
    const dayIndex = day - start - monthStartsOf(leap)[month]!;
    let shape = this.#year(yearShape(start, leap));
    const rest = shape.days[month]! & (-1 << dayIndex);
    if (rest !== 0) return day - dayIndex + lowestBit(rest);
    // Months after this one; `-2 << month` has no bit up to and including it.
    let months = shape.months & (-2 << month);
    while (months === 0) {
      start += leap ? 366 : 365;
      leap = isLeap(++year);
      shape = this.#year(yearShape(start, leap));
      months = shape.months;
    }
    const found = lowestBit(months);
    return start + monthStartsOf(leap)[found]! + lowestBit(shape.days[found]!);
  }

  #dayAtOrBefore(day: number): number {
    let year = yearOfDay(day);
    let start = yearStart(year);
    let leap = isLeap(year);
    const month = monthOfYearDay(day - start, leap);
    const dayIndex = day - start - monthStartsOf(leap)[month]!;
    let shape = this.#year(yearShape(start, leap));
    const rest = shape.days[month]! & ~(-2 << dayIndex);
    if (rest !== 0) return day - dayIndex + highestBit(rest);
    let months = shape.months & ~(-1 << month);
    while (months === 0) {
      leap = isLeap(--year);
      start -= leap ? 366 : 365;
      shape = this.#year(yearShape(start, leap));
      months = shape.months;
    }
    const found = highestBit(months);
    return start + monthStartsOf(leap)[found]! + highestBit(shape.days[found]!);
  }

  #year(shape: number): YearDays {
    return this.#years[shape] ?? this.#fillYear(shape);
  }

  #fillYear(shape: number): YearDays {
    const starts = monthStartsOf(shape >= 7);
    const days = new Int32Array(12);
    let months = 0;
    for (const month of this.#months) {
      const firstWeekday = ((shape % 7) + starts[month]!) % 7;
      days[month] = this.#picker.mask(starts[month + 1]! - starts[month]!, firstWeekday);
      if (days[month] !== 0) months |= 1 << month;
    }
    const filled = { months, days };
    this.#years[shape] = filled;
    return filled;
  }
}

/** The values of one field, with the next and the previous one of each looked up in a table. */
class Steps {
  readonly first: number;
  readonly last: number;
  /** Index i: the smallest value ≥ i, or -1. One entry past the field's end. */
  readonly #after: Int8Array;
  /** Index i: the largest value < i, or -1. */
  readonly #before: Int8Array;

  constructor(values: readonly number[], size: number) {
    this.first = values[0]!;
    this.last = values.at(-1)!;
    this.#after = new Int8Array(size + 1).fill(-1);
    this.#before = new Int8Array(size + 1).fill(-1);
    for (const value of values) this.#before.fill(value, value + 1);
    for (const value of [...values].reverse()) this.#after.fill(value, 0, value + 1);
  }

  has(value: number): boolean {
    return this.#after[value] === value;
  }

  atOrAfter(value: number): number {
    return this.#after[value]!;
  }

  atOrBefore(value: number): number {
    return this.#before[value + 1]!;
  }
}

function lowestBit(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}

function highestBit(mask: number): number {
  return 31 - Math.clz32(mask);
}
