/** The days and months of a cron expression in words. */
import { type DayOfMonthItem, type DayOfWeekItem, isOpen } from "./cron-days.ts";
import type { CronExpression } from "./cron-expression.ts";
import { type FieldItem, fieldSpecs, valuesOf } from "./cron-field.ts";
import { joinWords, ordinal } from "./explain-time.ts";

export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const weekdayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** `every day`, `on Monday to Friday`, `on day 13 of the month if it is a Friday`, each `in January` where so. */
export function daysInWords({ days, month }: CronExpression): string {
  const openDay = isOpen(days.dayOfMonth);
  const openWeekday = isOpen(days.dayOfWeek);
  const day = joinWords(daysOfMonthInWords(days.dayOfMonth), "or");
  const weekday = joinWords(days.dayOfWeek.map(weekdayInWords), "or");
  const months = month.values.length === 12 ? "" : ` in ${joinWords(monthsInWords(month.items))}`;
  if (openDay && openWeekday) return `every day${months}`;
  if (openDay) return `on ${weekday}${months}`;
  if (openWeekday) return `on ${day}${months}`;
  return `on ${day}${months}, if that is also ${weekday}`;
}

/** Single days together, then whatever else there is. */
function daysOfMonthInWords(items: readonly DayOfMonthItem[]): string[] {
  const single = items.flatMap((item) => (item.form === "value" ? [String(item.value)] : []));
  const rest = items.filter((item) => item.form !== "value").map(dayInWords);
  if (single.length === 0) return rest;
  return [`day ${joinWords(single, "or")} of the month`, ...rest];
}

function dayInWords(item: DayOfMonthItem): string {
  const { dayOfMonth: spec } = fieldSpecs;
  switch (item.form) {
    case "nearest-weekday":
      return `the working day nearest to day ${item.day} of the month`;
    case "last": {
      const day =
        item.offset === 0
          ? "the last day of the month"
          : `the day ${item.offset} before the last of the month`;
      return item.nearestWeekday ? `the working day nearest to ${day}` : day;
    }
    case "value":
      return `day ${item.value} of the month`;
    case "range":
      if (item.step === 1) return `days ${item.from} to ${item.to} of the month`;
      break;
    case "any":
      if (item.step === 1) return "any day";
  }
  return `days ${joinWords(valuesOf([item], spec).map(String))} of the month`;
}

function weekdayInWords(item: DayOfWeekItem): string {
  const name = (weekday: number) => weekdayNames[weekday % 7]!;
  switch (item.form) {
    case "nth":
      return `the ${ordinal(item.nth)} ${name(item.weekday)} of the month`;
    case "last":
      return `the last ${name(item.weekday)} of the month`;
    case "value":
      return name(item.value);
    case "range":
      if (item.step === 1) return `${name(item.from)} to ${name(item.to)}`;
      break;
    case "any":
      if (item.step === 1) return "any day";
  }
  return joinWords(valuesOf([item], fieldSpecs.dayOfWeek).map(name), "or");
}

function monthsInWords(items: readonly FieldItem[]): string[] {
  const name = (month: number) => monthNames[month - 1]!;
  return items.flatMap((item) => {
    if (item.form === "value") return [name(item.value)];
    if (item.form === "range" && item.step === 1) return [`${name(item.from)} to ${name(item.to)}`];
    return valuesOf([item], fieldSpecs.month).map(name);
  });
}
