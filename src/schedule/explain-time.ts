/** The second, minute and hour of a cron expression in words. */
import type { CronExpression } from "./cron-expression.ts";
import type { Field } from "./cron-field.ts";

/** More times of the day than this are described by their fields instead of being listed. */
const maxListed = 6;

/** `at 02:30`, `every 15 minutes in the hours 09 to 17`, `every second`. */
export function timeInWords({ second, minute, hour, hasSeconds }: CronExpression): string {
  if ([second, minute, hour].every(isFixed)) {
    const times = hour.values.flatMap((h) =>
      minute.values.flatMap((m) => second.values.map((s) => clock(h, m, hasSeconds ? s : undefined))),
    );
    if (times.length <= maxListed) return `at ${joinWords(times)}`;
  }
  const parts: string[] = [];
  const secondsMatter = hasSeconds && !(second.values.length === 1 && second.values[0] === 0);
  if (secondsMatter) parts.push(fieldInWords(second));
  if (!(secondsMatter && isOpenField(minute))) parts.push(fieldInWords(minute));
  if (!isOpenField(hour)) parts.push(hourInWords(hour));
  else if (!everyUnit(minute) && !(secondsMatter && isOpenField(minute))) parts.push("of every hour");
  return parts.join(" ");
}

/** `every minute`, `every 15 minutes`, `at minutes 0 and 30`, `every minute from 10 to 20`. */
function fieldInWords(field: Field): string {
  const unit = field.spec.name;
  if (isOpenField(field)) return `every ${unit}`;
  const step = everyUnit(field);
  if (step) return `every ${step} ${unit}s`;
  const { values, items } = field;
  const only = items.length === 1 ? items[0]! : undefined;
  if (only?.form === "range" && only.step === 1 && only.from < only.to)
    return `every ${unit} from ${only.from} to ${only.to}`;
  return `at ${unit}${values.length === 1 ? "" : "s"} ${joinWords(values.map(String))}`;
}

function hourInWords(hour: Field): string {
  const step = everyUnit(hour);
  if (step) return `of every ${ordinal(step)} hour from midnight`;
  const two = (value: number) => String(value).padStart(2, "0");
  const written = hour.items.map((item) => {
    if (item.form === "value") return two(item.value);
    return item.form === "range" && item.step === 1 ? `${two(item.from)} to ${two(item.to)}` : undefined;
  });
  const words = written.filter((text) => text !== undefined);
  const hours = words.length === written.length ? words : hour.values.map(two);
  return `in the hour${hour.values.length === 1 ? "" : "s"} ${joinWords(hours)}`;
}

/** A list of words as a sentence has it. */
export function joinWords(words: readonly string[], last = "and"): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

export function ordinal(number: number): string {
  const teen = number % 100 >= 11 && number % 100 <= 13;
  return `${number}${teen ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th")}`;
}

/** The step of a single `*` or `0/n` item that divides its field without a rest; then it is a real interval. */
function everyUnit({ items, spec }: Field): number | undefined {
  const item = items[0];
  if (items.length !== 1 || !item) return undefined;
  const fromStart = item.form === "any" || (item.form === "start" && item.from === spec.min);
  return fromStart && spec.count % item.step === 0 ? item.step : undefined;
}

function isFixed(field: Field): boolean {
  return field.items.every((item) => item.form === "value");
}

function isOpenField(field: Field): boolean {
  return field.values.length === field.spec.count;
}

function clock(hour: number, minute: number, second: number | undefined): string {
  const parts = second === undefined ? [hour, minute] : [hour, minute, second];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
