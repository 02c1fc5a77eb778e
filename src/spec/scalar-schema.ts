/** The single values that definitions are made of: names, texts, durations, sizes, zones. */
import { z } from "zod";
import { parseBytes } from "../base/bytes.ts";
import { formatDuration, parseDuration } from "../base/duration.ts";
import { isEscapementError } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";
import { closestZone, isKnownZone } from "./time-zone.ts";

/** What a value should be, in words, and what was probably meant when it is something else. */
export interface Expectation {
  readonly what: string;
  /** @param source the value as it is written, where it is a single word or number */
  readonly repair?: (input: unknown, source: string | undefined) => string | undefined;
}

export const expectation = z.registry<Expectation>();

/** A bare number or yes/no where text belongs. */
export function inQuotes(input: unknown, source: string | undefined): string | undefined {
  return typeof input === "number" || typeof input === "boolean" ? `"${source ?? input}"` : undefined;
}

function asName(input: unknown, source: string | undefined): string | undefined {
  if (typeof input === "number") return inQuotes(input, source);
  if (typeof input !== "string") return undefined;
  const slug = input
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return slug !== "" && slug.length <= 63 ? slug : undefined;
}

function asNumber(input: unknown): string | undefined {
  return typeof input === "string" && /^-?\d+$/.test(input) ? input : undefined;
}

function inSeconds(input: unknown): string | undefined {
  return typeof input === "number" && Number.isSafeInteger(input) && input >= 0 ? `${input}s` : undefined;
}

function asList(input: unknown): string | undefined {
  return typeof input === "string" && !input.includes("\n")
    ? `[${input.trim().split(/\s+/).join(", ")}]`
    : undefined;
}

/** Node's timers hold at most 24.8 days; whatever a timer waits for must be shorter. */
export const longestTimerMs = 20 * 86_400_000;
const longestMs = 3660 * 86_400_000;

/** Text that is not empty. */
export function text(description: string) {
  return z
    .string()
    .min(1)
    .regex(/^[^\0]*$/, { error: "contains a NUL character" })
    .register(expectation, { what: "text", repair: inQuotes })
    .describe(description);
}

/** A name: lower-case letters, digits and dashes, at most 63, as in host names. */
export function name(description: string) {
  return z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
    .register(expectation, {
      what: "a name of lower-case letters, digits and dashes, a letter or digit at both ends",
      repair: asName,
    })
    .describe(description);
}

/** A whole number between two bounds, both included. */
export function wholeNumber(minimum: number, maximum: number, description: string) {
  return z
    .int()
    .min(minimum)
    .max(maximum)
    .register(expectation, { what: `a whole number from ${minimum} to ${maximum}`, repair: asNumber })
    .describe(description);
}

/** A duration such as `90s` or `1h30m`. Output: milliseconds. Bounds are included. */
export function duration(
  description: string,
  { min = 1, max = longestMs }: { min?: number; max?: number } = {},
) {
  return z
    .string()
    .register(expectation, { what: "a duration with its unit, such as 30s, 5m or 1h30m", repair: inSeconds })
    .meta({
      description,
      pattern: "^(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$",
      examples: ["30s", "5m", "1h30m"],
    })
    .transform((input, context) => {
      const ms = orProblem(
        () => parseDuration(input),
        "must be a duration such as 30s, 5m or 1h30m",
        context,
        input,
      );
      if (typeof ms !== "number") return z.NEVER;
      if (ms < min || ms > max) {
        const bound = ms < min ? `at least ${formatDuration(min)}` : `at most ${formatDuration(max)}`;
        context.issues.push({ code: "custom", message: `must be ${bound}`, input });
      }
      return ms;
    });
}

/** A size such as `512MiB`. Output: bytes, at least 1. */
export function size(description: string) {
  return z
    .string()
    .register(expectation, { what: "a size with its unit, such as 512MiB or 4GiB" })
    .meta({ description, pattern: "^\\d+(\\.\\d+)?\\s*[kKMGT]?i?B$", examples: ["512MiB", "4GiB"] })
    .transform((input, context) => {
      const bytes = orProblem(
        () => parseBytes(input),
        "must be a size such as 512MiB or 4GiB",
        context,
        input,
      );
      if (typeof bytes !== "number") return z.NEVER;
      if (bytes < 1 || !Number.isSafeInteger(bytes))
        context.issues.push({ code: "custom", message: "must be between 1B and 8PiB", input });
      return bytes;
    });
}

/** An instant with its offset. Output: Date. */
export function instant(description: string) {
  return z
    .string()
    .register(expectation, { what: "an instant such as 2026-07-01T02:00:00Z" })
    .meta({ description, format: "date-time" })
    .transform((input, context) => {
      const message = "must be an instant with its offset, such as 2026-07-01T02:00:00Z";
      return orProblem(() => parseInstant(input), message, context, input) ?? z.NEVER;
    });
}

/** An IANA time zone that this Node knows, spelled as the database spells it. */
export function timeZone(description: string) {
  return z
    .string()
    .refine(isKnownZone)
    .register(expectation, {
      what: "an IANA time zone such as Europe/Berlin or UTC",
      repair: (input) => (typeof input === "string" ? closestZone(input) : undefined),
    })
    .describe(description);
}

/** Program and arguments. */
export function command(description: string) {
  return z
    .array(text("One argument, passed as it is."))
    .min(1)
    .register(expectation, {
      what: "a list: the program, then its arguments; there is no shell",
      repair: asList,
    })
    .describe(description);
}

/** One of a few words. */
export function choice<const T extends readonly string[]>(words: T, description: string) {
  return z.enum(words).describe(description);
}

interface IssueSink {
  issues: { push(issue: { code: "custom"; message: string; input: unknown }): unknown };
}

function orProblem<T>(parse: () => T, message: string, context: IssueSink, input: string): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!isEscapementError(error)) throw error;
    context.issues.push({ code: "custom", message, input });
    return undefined;
  }
}
