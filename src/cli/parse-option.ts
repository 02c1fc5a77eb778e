/** Reads option values, once, at the edge; a wrong one is a usage error that names the option. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";

/** An RFC 3339 instant with a zone. */
export function instantOption(text: string): Date {
  try {
    return parseInstant(text);
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}; write for example 2026-07-01T02:00:00Z.`);
  }
}

/** A duration such as 90s or 5m, in milliseconds. */
export function durationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

/** A whole number from `min` on. */
export function countOption(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(
        `It must be a whole number ${max === Number.MAX_SAFE_INTEGER ? `≥ ${min}` : `from ${min} to ${max}`}.`,
      );
    }
    return value;
  };
}
