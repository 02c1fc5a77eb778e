/** Reads the values of options; what is wrong is said in words of the option. */
import { parseBytes } from "../../base/bytes.ts";
import { formatDuration, parseDuration } from "../../base/duration.ts";
import { EscapementError, isEscapementError } from "../../base/errors.ts";

/** A number such as `0.2`, `2000` or `2e3`. @throws E_BAD_VALUE */
export function numberOption(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw bad(option, text, "a number", "write for example 2000 or 0.25");
  return value;
}

/** A whole number from `least` to `most`. @throws E_BAD_VALUE */
export function wholeOption(
  option: string,
  text: string,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = numberOption(option, text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const expected =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`;
  throw bad(option, text, expected, "run with --help to see what it means");
}

/** Milliseconds, at most `mostMs`. @throws E_BAD_VALUE */
export function durationOption(option: string, text: string, mostMs = Number.POSITIVE_INFINITY): number {
  const ms = asValue(option, text, "a duration", () => parseDuration(text));
  if (ms > mostMs)
    throw bad(option, text, `at most ${formatDuration(mostMs)}`, "run with --help to see what it means");
  return ms;
}

/** No machine has more of anything; above, figures lose their meaning. */
const largestBytes = 2 ** 50;

/** Bytes, at most 1 PiB. @throws E_BAD_VALUE */
export function sizeOption(option: string, text: string): number {
  const bytes = asValue(option, text, "a size", () => parseBytes(text));
  if (bytes > largestBytes) throw bad(option, text, "at most 1024TiB", "is it the right unit?");
  return bytes;
}

/** A calendar day such as 2026-11-11, as it was written. @throws E_BAD_VALUE */
export function dateOption(option: string, text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)) return text;
  throw bad(option, text, "a date", "write for example 2026-11-11");
}

/** The URL of a PostgreSQL server, as it was written. @throws E_BAD_VALUE */
export function serverOption(option: string, text: string): string {
  if (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)) return text;
  // The text may hold a password: it is not repeated.
  throw bad(
    option,
    text === "" ? "" : "…",
    "the URL of a PostgreSQL server",
    "write for example postgres://user@host:5432/postgres",
  );
}

/** One of a few words. @throws E_BAD_VALUE */
export function choiceOption<const T extends string>(option: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found === undefined)
    throw bad(option, text, `one of ${choices.join(", ")}`, "run with --help to see what they mean");
  return found;
}

function asValue(option: string, text: string, expected: string, read: () => number): number {
  try {
    return read();
  } catch (error) {
    if (isEscapementError(error)) throw bad(option, text, expected, error.hint);
    throw error;
  }
}

function bad(option: string, value: string, expected: string, hint: string): EscapementError {
  return new EscapementError("E_BAD_VALUE", { option, value: JSON.stringify(value), expected, hint });
}
