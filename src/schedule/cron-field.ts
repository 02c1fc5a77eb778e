/** One field of a cron expression: lists, ranges, steps and names, read strictly. */
import { closest } from "../spec/closest.ts";

/** Throws E_CRON_SYNTAX for the expression being read. */
export type Fail = (reason: string) => never;

export interface FieldSpec {
  readonly name: "second" | "minute" | "hour" | "day of month" | "month" | "day of week";
  readonly min: number;
  /** Largest number that may be written. */
  readonly max: number;
  /** Number of values: larger than `max - min + 1` never, smaller where two numbers mean the same (Sunday 0 and 7). */
  readonly count: number;
  /** Names for `min`, `min + 1`, …, in capitals. */
  readonly names?: readonly string[];
}

/** How one item of a list was written. */
export type FieldItem =
  | { readonly form: "any"; readonly step: number }
  | { readonly form: "value"; readonly value: number }
  /** `from` may be larger than `to`: the range then wraps. */
  | { readonly form: "range"; readonly from: number; readonly to: number; readonly step: number }
  /** `from/step`: from there to the field's end. */
  | { readonly form: "start"; readonly from: number; readonly step: number };

export interface Field {
  readonly spec: FieldSpec;
  readonly items: readonly FieldItem[];
  /** Ascending, each once; weekday 7 has become 0. */
  readonly values: readonly number[];
}

const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export const fieldSpecs = {
  second: { name: "second", min: 0, max: 59, count: 60 },
  minute: { name: "minute", min: 0, max: 59, count: 60 },
  hour: { name: "hour", min: 0, max: 23, count: 24 },
  dayOfMonth: { name: "day of month", min: 1, max: 31, count: 31 },
  month: { name: "month", min: 1, max: 12, count: 12, names: monthNames },
  dayOfWeek: { name: "day of week", min: 0, max: 7, count: 7, names: weekdayNames },
} as const satisfies Record<string, FieldSpec>;

/** Reads a whole field made of plain items. */
export function parseField(text: string, spec: FieldSpec, fail: Fail): Field {
  const items = splitList(text, spec, fail).map((item) => parseItem(item, spec, fail));
  return { spec, items, values: valuesOf(items, spec) };
}

/** Splits at commas and refuses empty items. */
export function splitList(text: string, spec: FieldSpec, fail: Fail): string[] {
  const items = text.split(",");
  if (items.includes("")) fail(`the ${spec.name} list ${text} has an empty item`);
  return items;
}

/** Reads one item: a value, a range, either with a step, or a star; `?` where a day may be left open. */
export function parseItem(text: string, spec: FieldSpec, fail: Fail): FieldItem {
  const [base = "", stepText, extra] = text.split("/");
  if (extra !== undefined) fail(`${spec.name} ${text} has two steps`);
  const step = stepText === undefined ? 1 : parseStep(stepText, text, spec, fail);
  if (base === "*") return { form: "any", step };
  if (base === "?") {
    if (spec.name !== "day of month" && spec.name !== "day of week")
      fail(`? is only for the two day fields, not for ${spec.name}`);
    if (stepText !== undefined) fail(`${spec.name} ${text}: ? takes no step; write */${step}`);
    return { form: "any", step };
  }
  if (base === "") fail(`${spec.name} ${text} has nothing before the step; write */${step}`);
  const [fromText = "", toText, more] = base.split("-");
  if (more !== undefined || (toText !== undefined && (fromText === "" || toText === ""))) {
    fail(`${spec.name} ${text} is not a range; write for example ${spec.min}-${spec.max}`);
  }
  const from = parseValue(fromText, spec, fail);
  if (toText === undefined)
    return stepText === undefined ? { form: "value", value: from } : { form: "start", from, step };
  return { form: "range", from, to: parseValue(toText, spec, fail), step };
}

/** Reads a number or a name of the field. */
export function parseValue(text: string, spec: FieldSpec, fail: Fail): number {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    if (value < spec.min || value > spec.max) {
      const midnight = spec.name === "hour" && value === 24 ? "; midnight is 0" : "";
      fail(`${spec.name} ${text} is outside ${spec.min}-${spec.max}${midnight}`);
    }
    return value;
  }
  const index = spec.names?.indexOf(text.toUpperCase()) ?? -1;
  if (index >= 0) return spec.min + index;
  return fail(`${spec.name} ${text === "" ? "is empty" : `${text} is not known`}; ${suggestion(text, spec)}`);
}

/** The values that the items name together. */
export function valuesOf(items: readonly FieldItem[], spec: FieldSpec): number[] {
  const values = new Set<number>();
  const last = spec.min + spec.count - 1;
  const fold = (value: number) => (value > last ? value - spec.count : value);
  for (const item of items) {
    if (item.form === "value") {
      values.add(fold(item.value));
      continue;
    }
    const from = item.form === "any" ? spec.min : item.form === "start" ? fold(item.from) : item.from;
    const to = item.form === "range" ? item.to : last;
    const end = to >= from ? to : to + spec.count;
    for (let value = from; value <= end; value += item.step) values.add(fold(value));
  }
  return [...values].sort((a, b) => a - b);
}

function parseStep(text: string, item: string, spec: FieldSpec, fail: Fail): number {
  if (!/^\d+$/.test(text))
    fail(`${spec.name} ${item}: the step ${text === "" ? "is missing" : `${text} is not a number`}`);
  const step = Number(text);
  if (step === 0) fail(`${spec.name} ${item}: a step of 0 never moves on`);
  const largest = spec.min + spec.count - 1;
  if (step > largest) {
    fail(
      `${spec.name} ${item}: the step ${step} is larger than the field, which ends at ${largest}${biggerUnit(spec)}`,
    );
  }
  return step;
}

function biggerUnit(spec: FieldSpec): string {
  if (spec.name === "second" || spec.name === "minute" || spec.name === "hour") {
    return "; for longer intervals use every, or the next field";
  }
  return "";
}

function suggestion(text: string, spec: FieldSpec): string {
  const range = `${spec.min}-${spec.max}`;
  const upper = text.toUpperCase();
  if (!spec.names)
    return upper === "H" ? `H is another program's hash; write a number ${range}` : `write ${range}`;
  const letters = (word: string) => [...word].sort().join("");
  const near =
    // A name written out, two letters swapped, or one letter wrong.
    spec.names.find((name) => upper.startsWith(name) || letters(name) === letters(upper)) ??
    closest(upper.slice(0, 3), spec.names);
  return near === undefined
    ? `write ${range} or ${spec.names[0]} to ${spec.names.at(-1)}`
    : `did you mean ${near}?`;
}
