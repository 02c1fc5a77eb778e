/** Reads the values of options; what is wrong is said in words of the option. */
import { parseBytes } from "../../base/bytes.ts";
import { parseDuration } from "../../base/duration.ts";
import { EscapementError, isEscapementError } from "../../base/errors.ts";

/** A number such as `0.2`, `2000` or `2e3`. @throws E_BAD_VALUE */
export function numberOption(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw bad(option, text, "a number", "write for example 2000 or 0.25");
  return value;
}

/** A whole number of at least `least`. @throws E_BAD_VALUE */
export function wholeOption(option: string, text: string, least = 0): number {
  const value = numberOption(option, text);
  if (!Number.isInteger(value) || value < least)
    throw bad(option, text, `a whole number of at least ${least}`, "run with --help to see what it means");
  return value;
}

/** Milliseconds. @throws E_BAD_VALUE */
export function durationOption(option: string, text: string): number {
  return asValue(option, text, "a duration", () => parseDuration(text));
}

/** Bytes. @throws E_BAD_VALUE */
export function sizeOption(option: string, text: string): number {
  return asValue(option, text, "a size", () => parseBytes(text));
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
