/** Turns what a schema says about a document into problems that a person can act on. */
import type { z } from "zod";
import { redact } from "../base/redact.ts";
import { closest } from "./closest.ts";
import { formatPath, type Path, type Problem } from "./problem.ts";
import { type Expectation, expectation } from "./scalar-schema.ts";
import type { YamlDocument } from "./yaml.ts";

/** Longer values are cut in messages. */
const longestValue = 80;

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** What the schema that complained knows, beyond the issue: collected while it complains. */
interface Background {
  /** By path: the keys a map may have. */
  readonly keys: Map<string, readonly string[]>;
  /** By path: what a value should be. */
  readonly expected: Map<string, Expectation>;
}

/** Checks a document; either the parsed value or the problems. */
export function parseDocument<T>(
  schema: z.ZodType<T>,
  document: YamlDocument,
): { value: T; problems: readonly [] } | { value: undefined; problems: readonly Problem[] } {
  const background: Background = { keys: new Map(), expected: new Map() };
  const result = schema.safeParse(document.value, { error: (issue) => listen(issue, background) });
  if (result.success) return { value: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue) => toProblems(issue, document, background));
  return { value: undefined, problems: problems };
}

function listen(issue: RawIssue, background: Background): undefined {
  const place = formatPath((issue.path ?? []) as Path);
  const schema = issue.schema as z.ZodType | undefined;
  if (!schema) return undefined;
  if (issue.code === "unrecognized_keys") {
    const { shape } = schema as z.ZodObject;
    if (shape) background.keys.set(place, Object.keys(shape));
  } else {
    const expected = expectation.get(schema);
    if (expected) background.expected.set(place, expected);
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
    ...suggest(closest(path.at(-1), choices)),
  };
}

function missing(path: Path, issue: Issue, document: YamlDocument, background: Background): Problem {
  const what = background.expected.get(formatPath(path))?.what ?? typeWord(issue);
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
  const expected = background.expected.get(formatPath(path));
  const source = document.sourceOf(path);
  const suggestion = choices ? closest(input, choices) : expected?.repair?.(input, source);
  return {
    ...document.positionOf(path),
    path: formatPath(path),
    message: messageFor(path, input, issue, expected?.what ?? typeWord(issue)),
    ...(input !== undefined && {
      value: typeof input === "string" ? showValue(input) : source || showValue(input),
    }),
    ...(choices && { choices }),
    ...suggest(suggestion),
  };
}

function messageFor(path: Path, input: unknown, issue: Issue, what: string | undefined): string {
  // A message of the schema's own says more than what the value should be.
  if (["custom", "invalid_format"].includes(issue.code) && !issue.message.startsWith("Invalid "))
    return issue.message;
  if (
    path.at(-1) === "by" &&
    typeof input === "string" &&
    /^(rows?|offsets?|pages?|range|limit|row-?(number|offset|range))$/i.test(input)
  )
    return "must not be a row offset: rows move between two attempts, so one would be done twice and another never; cut by a business key";
  if (choicesOf(issue)) return "is not one of the choices";
  if (issue.code === "invalid_type" && input === null) return `is empty; it must be ${what ?? "written out"}`;
  if (issue.code === "too_small" && issue.origin !== "number")
    return issue.minimum === 1 ? "must not be empty" : `must have at least ${issue.minimum}`;
  if (issue.code === "too_big" && issue.origin !== "number")
    return `is too long; at most ${issue.maximum} ${issue.origin === "string" ? "characters" : "items"}`;
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
