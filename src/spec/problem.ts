/** What is wrong with a file, where, and what would be accepted instead. */

export interface Position {
  readonly file: string;
  /** From 1; 0 when the problem is the file as a whole. */
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Position {
  /** For example `spec.misfire.policy`; empty for the document or the file. */
  readonly path: string;
  readonly message: string;
  /** The offending value as JSON, cut to a readable length, secrets taken out. */
  readonly value?: string;
  /** What would be accepted. */
  readonly choices?: readonly string[];
  /** The choice that was probably meant. */
  readonly suggestion?: string;
}

/** Keys and indexes from the top of a document to a value. */
export type Path = readonly (string | number)[];

/** `spec.effects[0].key`. */
export function formatPath(path: Path): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join("");
}

/** `file:line:column`, or the file alone when there is no place in it. */
export function formatPosition(at: Position): string {
  return at.line === 0 ? at.file : `${at.file}:${at.line}:${at.column}`;
}

/** One line for people: place, field, message, value, choices, suggestion. */
export function formatProblem(problem: Problem): string {
  const parts = [problem.path === "" ? problem.message : `${problem.path} ${problem.message}`];
  if (problem.value !== undefined) parts.push(`found ${problem.value}`);
  if (problem.choices?.length) parts.push(`choices: ${problem.choices.join(", ")}`);
  if (problem.suggestion !== undefined) parts.push(`did you mean ${problem.suggestion}?`);
  return `${formatPosition(problem)}  ${parts.join("; ")}`;
}

/** Orders by file, then line, then column. */
export function compareProblems(a: Problem, b: Problem): number {
  return a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column;
}
