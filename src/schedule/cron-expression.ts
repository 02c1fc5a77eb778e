/**
 * A cron expression, read strictly.
 *
 * Five fields (minute, hour, day of month, month, day of week) or six (with seconds in front), or a name
 * such as `@daily`. Three rules that other programs decide differently:
 *
 * - A day must match both day fields (AND). `0 0 13 * FRI` is Friday the 13th only.
 * - A range may wrap: `22-2` is 22, 23, 0, 1, 2.
 * - The expression is a wildcard one if its second, minute or hour contains `*`, a range or a step. Wildcard
 *   expressions keep real time when the clock is set back; the others name fixed times of the day.
 */
import { EscapementError } from "../base/errors.ts";
import { closest } from "../spec/closest.ts";
import { type DayFields, parseDayOfMonth, parseDayOfWeek } from "./cron-days.ts";
import { type Fail, type Field, fieldSpecs, parseField } from "./cron-field.ts";
import { LocalTimes } from "./local-times.ts";

export interface CronExpression {
  /** As written, trimmed, single spaces. */
  readonly text: string;
  /** As five or six fields, names such as `@daily` replaced. */
  readonly expanded: string;
  readonly hasSeconds: boolean;
  readonly second: Field;
  readonly minute: Field;
  readonly hour: Field;
  readonly month: Field;
  readonly days: DayFields;
  /** Whether it keeps real time where the clock is set back, or names fixed times of the day. */
  readonly wildcard: boolean;
  /** The local times it names, without any zone. */
  readonly localTimes: LocalTimes;
}

const nicknames: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * Reads a cron expression.
 * @throws E_CRON_SYNTAX with the reason in words; E_CRON_NEVER if no day of any year matches
 */
export function parseCron(source: string): CronExpression {
  const text = source.trim().replace(/\s+/g, " ");
  const fail: Fail = (reason) => {
    throw new EscapementError("E_CRON_SYNTAX", { expression: JSON.stringify(text), reason });
  };
  const expanded = text.startsWith("@") ? expandNickname(text, fail) : text;
  const parts = expanded === "" ? [] : expanded.split(" ");
  if (parts.length !== 5 && parts.length !== 6) wrongCount(text, parts, fail);
  const hasSeconds = parts.length === 6;
  const [secondText, minuteText, hourText, dayText, monthText, weekdayText] = hasSeconds
    ? parts
    : ["0", ...parts];
  const second = parseField(secondText!, fieldSpecs.second, fail);
  const minute = parseField(minuteText!, fieldSpecs.minute, fail);
  const hour = parseField(hourText!, fieldSpecs.hour, fail);
  const month = parseField(monthText!, fieldSpecs.month, fail);
  const days = { dayOfMonth: parseDayOfMonth(dayText!, fail), dayOfWeek: parseDayOfWeek(weekdayText!, fail) };
  const localTimes = new LocalTimes(second.values, minute.values, hour.values, month.values, days);
  if (localTimes.isEmpty()) throw new EscapementError("E_CRON_NEVER", { expression: JSON.stringify(text) });
  const wildcard = [second, minute, hour].some((field) => field.items.some((item) => item.form !== "value"));
  return { text, expanded, hasSeconds, second, minute, hour, month, days, wildcard, localTimes };
}

function expandNickname(text: string, fail: Fail): string {
  const name = text.toLowerCase();
  const expanded = nicknames[name];
  if (expanded !== undefined) return expanded;
  if (name === "@reboot") fail("@reboot names no time; a job needs fire times");
  if (name.startsWith("@every"))
    fail(`write an interval as every, for example every ${text.slice(6).trim() || "5m"}`);
  const near = closest(name, Object.keys(nicknames));
  return fail(`${text} is not known; ${near === undefined ? "write five fields" : `did you mean ${near}?`}`);
}

function wrongCount(text: string, parts: readonly string[], fail: Fail): never {
  if (parts.length === 0) fail("it is empty; write for example 0 2 * * * for 02:00 each day");
  if (/^every\b/i.test(text)) fail("an interval is not a cron expression; give it as every");
  const found = parts.length === 1 ? "1 field" : `${parts.length} fields`;
  const year = parts.length === 7 ? "; a field for the year is not supported" : "";
  return fail(
    `${found}, but 5 are needed (minute, hour, day of month, month, day of week) or 6 (second first)${year}`,
  );
}
