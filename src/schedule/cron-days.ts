/** The two day fields of a cron expression, with `L`, `W` and `#`, and the days of a month they pick together. */
import {
  type Fail,
  type FieldItem,
  fieldSpecs,
  parseItem,
  parseValue,
  splitList,
  valuesOf,
} from "./cron-field.ts";

export type DayOfMonthItem =
  | FieldItem
  /** `L`, `L-n`, `LW`, `L-nW`: `offset` days before the month's last, moved to the nearest weekday or not. */
  | { readonly form: "last"; readonly offset: number; readonly nearestWeekday: boolean }
  /** `nW`: the weekday (Monday to Friday) nearest to day n, within the month. */
  | { readonly form: "nearest-weekday"; readonly day: number };

export type DayOfWeekItem =
  | FieldItem
  /** `nL`: the month's last such weekday. */
  | { readonly form: "last"; readonly weekday: number }
  /** `n#k`: the month's k-th such weekday. */
  | { readonly form: "nth"; readonly weekday: number; readonly nth: number };

export interface DayFields {
  readonly dayOfMonth: readonly DayOfMonthItem[];
  readonly dayOfWeek: readonly DayOfWeekItem[];
}

/** Reads the day-of-month field. */
export function parseDayOfMonth(text: string, fail: Fail): DayOfMonthItem[] {
  const spec = fieldSpecs.dayOfMonth;
  return splitList(text, spec, fail).map((item) => {
    const last = /^L(?:-(\d+))?(W)?$/i.exec(item);
    if (last) {
      const offset = Number(last[1] ?? 0);
      if (offset > 30) fail(`day of month ${item}: no month has ${offset + 1} days`);
      return { form: "last", offset, nearestWeekday: last[2] !== undefined };
    }
    const nearest = /^(\d+)W$/i.exec(item);
    if (nearest) return { form: "nearest-weekday", day: parseValue(nearest[1]!, spec, fail) };
    if (/W$/i.test(item)) fail(`day of month ${item}: W follows one day or L, as in 15W or LW`);
    if (/L/i.test(item)) fail(`day of month ${item}: write L, L-3, LW or L-3W`);
    if (item.includes("#")) fail(`day of month ${item}: # belongs to the day of week, as in MON#2`);
    return parseItem(item, spec, fail);
  });
}

/** Reads the day-of-week field. */
export function parseDayOfWeek(text: string, fail: Fail): DayOfWeekItem[] {
  const spec = fieldSpecs.dayOfWeek;
  return splitList(text, spec, fail).map((item) => {
    const nth = /^([^#]*)#(.*)$/.exec(item);
    if (nth) {
      if (!/^[1-5]$/.test(nth[2]!)) fail(`day of week ${item}: after # comes a number from 1 to 5`);
      return { form: "nth", weekday: parseValue(nth[1]!, spec, fail) % 7, nth: Number(nth[2]) };
    }
    if (/^L$/i.test(item))
      fail(
        "day of week L: name the weekday, as in FRIL; for the last day of the month write L in the day of month",
      );
    const last = /^(\w+)L$/i.exec(item);
    if (last) return { form: "last", weekday: parseValue(last[1]!, spec, fail) % 7 };
    return parseItem(item, spec, fail);
  });
}

/** True if the field leaves the day open: `*` or `?`. */
export function isOpen(items: readonly { readonly form: string; readonly step?: number }[]): boolean {
  return items.some((item) => item.form === "any" && item.step === 1);
}

/** Picks the days of a month. Both fields must agree: the day of month AND the day of week. */
export class DayPicker {
  readonly #days: DayFields;
  readonly #plainDays: ReadonlySet<number>;
  readonly #plainWeekdays: ReadonlySet<number>;

  constructor(days: DayFields) {
    this.#days = days;
    this.#plainDays = new Set(valuesOf(plain(days.dayOfMonth), fieldSpecs.dayOfMonth));
    this.#plainWeekdays = new Set(valuesOf(plain(days.dayOfWeek), fieldSpecs.dayOfWeek));
  }

  /**
   * The picked days as bits: bit 0 is day 1.
   * @param firstWeekday weekday of day 1, Sunday = 0
   */
  mask(monthLength: number, firstWeekday: number): number {
    const wanted = new Set(this.#plainDays);
    for (const item of this.#days.dayOfMonth) {
      if (item.form === "nearest-weekday" && item.day <= monthLength) {
        wanted.add(nearestWeekday(item.day, monthLength, firstWeekday));
      } else if (item.form === "last" && item.offset < monthLength) {
        const day = monthLength - item.offset;
        wanted.add(item.nearestWeekday ? nearestWeekday(day, monthLength, firstWeekday) : day);
      }
    }
    let mask = 0;
    for (const day of wanted) {
      if (day <= monthLength && this.#matchesWeekday(day, monthLength, firstWeekday)) mask |= 1 << (day - 1);
    }
    return mask;
  }

  #matchesWeekday(day: number, monthLength: number, firstWeekday: number): boolean {
    const weekday = (firstWeekday + day - 1) % 7;
    if (this.#plainWeekdays.has(weekday)) return true;
    return this.#days.dayOfWeek.some((item) => {
      if (item.form === "nth") return item.weekday === weekday && Math.ceil(day / 7) === item.nth;
      return item.form === "last" && item.weekday === weekday && day + 7 > monthLength;
    });
  }
}

function plain(items: readonly (DayOfMonthItem | DayOfWeekItem)[]): FieldItem[] {
  return items.filter(
    (item): item is FieldItem =>
      item.form === "any" || item.form === "value" || item.form === "range" || item.form === "start",
  );
}

function nearestWeekday(day: number, monthLength: number, firstWeekday: number): number {
  const weekday = (firstWeekday + day - 1) % 7;
  // Saturday goes back to Friday and Sunday on to Monday, unless that would leave the month.
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < monthLength ? day + 1 : day - 2;
  return day;
}
