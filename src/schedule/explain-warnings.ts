/** What is easily misread in a cron expression, whatever the zone. */
import { formatDuration } from "../base/duration.ts";
import { isOpen } from "./cron-days.ts";
import type { CronExpression } from "./cron-expression.ts";
import type { Field } from "./cron-field.ts";
import { monthNames } from "./explain-days.ts";
import { joinWords } from "./explain-time.ts";

export interface Warning {
  /** Short and stable, for machines: `both-day-fields`, `short-month`, … */
  readonly code: string;
  readonly text: string;
}

const dayMs = 86_400_000;
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function expressionWarnings(cron: CronExpression, fromMs: number): Warning[] {
  return [
    ...bothDayFields(cron),
    ...shortMonths(cron),
    ...[cron.second, cron.minute, cron.hour].flatMap(unevenStep),
    ...[cron.second, cron.minute, cron.hour, cron.month].flatMap(wrappingRange),
    ...frequent(cron),
    ...rare(cron, fromMs),
  ];
}

/** @param everyMs as parseEvery returns it */
export function everyWarnings(everyMs: number): Warning[] {
  if (everyMs % dayMs === 0) {
    const days = everyMs / dayMs;
    const text = `it fires at 00:00 UTC${days === 1 ? "" : `, every ${days} days counted from 1970-01-01`}, whatever the zone; for a local time write a cron expression`;
    return [{ code: "interval-in-utc", text }];
  }
  if (dayMs % everyMs === 0) return [];
  const text = `${formatDuration(everyMs)} does not divide a day: the times of day differ from one day to the next`;
  return [{ code: "interval-drifts", text }];
}

function bothDayFields({ days }: CronExpression): Warning[] {
  if (isOpen(days.dayOfMonth) || isOpen(days.dayOfWeek)) return [];
  const text =
    "both day fields are set: a day must match both; many other cron programs fire when either does";
  return [{ code: "both-day-fields", text }];
}

function shortMonths({ days, month }: CronExpression): Warning[] {
  const fixed = days.dayOfMonth.flatMap((item) => {
    if (item.form === "value") return [item.value];
    return item.form === "nearest-weekday" ? [item.day] : [];
  });
  return fixed
    .filter((day) => day > 28)
    .flatMap((day) => {
      const without = month.values
        .filter((number) => longestMonths[number - 1]! < day)
        .map((number) => monthNames[number - 1]!);
      const leap = day === 29 && month.values.includes(2);
      if (without.length === 0 && !leap) return [];
      const names = leap ? "February outside leap years" : joinWords(without);
      const remedy = month.values.length > 1 ? "; for the last day of each month write L" : "";
      return [{ code: "short-month", text: `there is no day ${day} in ${names}: no fire then${remedy}` }];
    });
}

function unevenStep({ items, spec, values }: Field): Warning[] {
  return items.flatMap((item) => {
    const open = item.form === "any" || item.form === "start";
    if (!open || spec.count % item.step === 0) return [];
    const last = values.at(-1)!;
    const rest = spec.count - last + values[0]!;
    const plural = (count: number) => `${count} ${spec.name}${count === 1 ? "" : "s"}`;
    if (values.length < 2) return [];
    const text = `a step of ${plural(item.step)} does not divide ${spec.count}: after ${spec.name} ${last} comes ${spec.name} ${values[0]}, only ${plural(rest)} later`;
    return [{ code: "uneven-step", text }];
  });
}

function wrappingRange({ items, spec }: Field): Warning[] {
  return items.flatMap((item) => {
    if (item.form !== "range" || item.from <= item.to) return [];
    const last = spec.min + spec.count - 1;
    const text = `${spec.name} ${item.from}-${item.to} wraps: it goes on from ${last} to ${spec.min}; several other cron programs refuse it`;
    return [{ code: "wrapping-range", text }];
  });
}

function frequent({ second, hasSeconds }: CronExpression): Warning[] {
  if (!hasSeconds || second.values.length < 2) return [];
  const text = `it fires ${second.values.length} times within a minute; every fire is an execution with records of its own`;
  return [{ code: "within-minute", text }];
}

function rare({ localTimes }: CronExpression, fromMs: number): Warning[] {
  const first = localTimes.atOrAfter(Math.ceil(fromMs / 1000));
  const second = localTimes.atOrAfter(first + 1);
  const years = (second - first) / 86_400 / 365.2425;
  if (years < 1.5) return [];
  const year = (localSec: number) => new Date(localSec * 1000).getUTCFullYear();
  return [{ code: "rare", text: `it fires in ${year(first)} and then not before ${year(second)}` }];
}
