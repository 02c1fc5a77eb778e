/** Turns what a schema says about a document into problems that a person can act on. */
import type { z } from "zod";
import { redact } from "../base/redact.ts";
import { closestChoice } from "./closest.ts";
import { formatPath, type Path, type Problem } from "./problem.ts";
import { expectation } from "./scalar-schema.ts";
import { closestZone } from "./time-zone.ts";
import type { YamlDocument } from "./yaml.ts";

/** Longer values are cut in messages. */
const longestValue = 80;

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** What the schema that complained knows, beyond the issue: collected while it complains. */
interface Background {
  /** By path: the keys a map may have. */
  readonly keys: Map<string, readonly string[]>;
  /** By path: what a value should be, in words. */
  readonly what: Map<string, string>;
}

/** Checks a document; either the parsed value or the problems. */
export function parseDocument<T>(
  schema: z.ZodType<T>,
  document: YamlDocument,
): { value: T; problems: readonly [] } | { value: undefined; problems: readonly Problem[] } {
  const background: Background = { keys: new Map(), what: new Map() };
  const result = schema.safeParse(document.value, { error: (issue) => listen(issue, background) });
  if (result.success) return { value: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue) => toProblems(issue, document, background));
  return { value: undefined, problems: problems };
}

function listen(issue: RawIssue, background: Background): undefined {
  const place = formatPath((issue.path ?? []) as Path);
  const schema = issue.inst as z.ZodType | undefined;
  if (issue.code === "unrecognized_keys") {
    const shape = (schema as z.ZodObject | undefined)?.shape;
    if (shape) background.keys.set(place, Object.keys(shape));
  } else if (schema) {
    const what = expectation.get(schema)?.what;
    if (what !== undefined) background.what.set(place, what);
  }
  return undefined;
}

function toProblems(issue: Issue, document: YamlDocument, background: Background): Problem[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) =>
      unknownKey([...path, key], document, background.keys.get(formatPath(path)) ?? []),
    );
  if (issue.code === "invalid_key") {
    const message = issue.issues[0]?.message ?? "is not a valid key";
    return [{ ...document.positionOf(path, "key"), path: formatPath(path), message }];
  }
  const input = valueAt(document.value, path);
  if (input === undefined && issue.code !== "custom") return [missing(path, issue, document, background)];
  return [wrong(path, input, issue, document, background)];
}

function unknownKey(path: Path, document: YamlDocument, choices: readonly string[]): Problem {
  return {
    ...document.positionOf(path, "key"),
    path: formatPath(path),
    message: "is not a known field",
    choices,
    ...suggest(closestChoice(String(path.at(-1)), choices)),
  };
}

function missing(path: Path, issue: Issue, document: YamlDocument, background: Background): Problem {
  const what = background.what.get(formatPath(path)) ?? typeWord(issue);
  const choices = choicesOf(issue);
  return {
    ...document.positionOf(path.slice(0, -1), "key"),
    path: formatPath(path),
    message: what === undefined || choices ? "is missing" : `is missing; it must be ${what}`,
    ...(choices && { choices }),
  };
}

function wrong(
  path: Path,
  input: unknown,
  issue: Issue,
  document: YamlDocument,
  background: Background,
): Problem {
  const choices = choicesOf(issue);
  const what = background.what.get(formatPath(path)) ?? typeWord(issue);
  const suggestion =
    path.at(-1) === "timeZone" && typeof input === "string"
      ? closestZone(input)
      : choices
        ? closestChoice(String(input), choices)
        : quoted(input, issue);
  return {
    ...document.positionOf(path),
    path: formatPath(path),
    message: messageFor(path, input, issue, what),
    ...(input !== undefined && { value: showValue(input) }),
    ...(choices && { choices }),
    ...suggest(suggestion),
  };
}

function messageFor(path: Path, input: unknown, issue: Issue, what: string | undefined): string {
  if (
    issue.code === "custom" ||
    (issue.code === "invalid_format" && issue.format === "regex" && issue.message)
  )
    return issue.message;
  if (
    path.at(-1) === "by" &&
    /^(rows?|offsets?|pages?|range|limit|row-?(number|offset|range))$/i.test(String(input))
  )
    return "must not be a row offset: rows move between two attempts, so one would be done twice and another never; cut by a business key";
  if (choicesOf(issue)) return "is not one of the choices";
  if (issue.code === "invalid_type" && input === null) return `is empty; it must be ${what ?? "written out"}`;
  if (issue.code === "too_small" && issue.origin !== "number")
    return issue.minimum === 1 ? "must not be empty" : `must have at least ${issue.minimum}`;
  if (issue.code === "too_big" && issue.origin !== "number")
    return `is too long; at most ${issue.maximum} ${issue.origin === "string" ? "characters" : "items"}`;
  if (issue.code === "too_big" && issue.message !== `Too big: expected number to be <=${issue.maximum}`)
    return what === undefined ? issue.message : `must be ${what}`;
  return what === undefined ? issue.message : `must be ${what}`;
}

/** The words a value may be, where there are few. */
function choicesOf(issue: Issue): readonly string[] | undefined {
  if (issue.code === "invalid_value") return issue.values.map(String);
  if (issue.code === "invalid_union" && "options" in issue) return (issue.options as unknown[]).map(String);
  return undefined;
}

function typeWord(issue: Issue): string | undefined {
  if (issue.code !== "invalid_type") return undefined;
  const words: Partial<Record<string, string>> = {
    object: "a map",
    record: "a map",
    array: "a list",
    string: "text",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
  };
  return words[issue.expected] ?? issue.expected;
}

/** A number or a yes/no where text belongs wants quotes; a number in quotes wants none. */
function quoted(input: unknown, issue: Issue): string | undefined {
  if (issue.code !== "invalid_type") return undefined;
  if (issue.expected === "string" && typeof input === "number" && /duration|lease/.test(issue.message))
    return undefined;
  if (issue.expected === "string" && (typeof input === "number" || typeof input === "boolean"))
    return `"${input}"`;
  const wantsNumber = issue.expected === "number" || issue.expected === "int";
  if (wantsNumber && typeof input === "string" && /^-?\d+(\.\d+)?$/.test(input)) return input;
  if (issue.expected === "array" && typeof input === "string") return `[${input}]`;
  return undefined;
}

function suggest(suggestion: string | undefined): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion };
}

/** The value as JSON on one line, cut, without secrets. */
export function showValue(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    return "a value that contains itself";
  }
  text = redact(text);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}
