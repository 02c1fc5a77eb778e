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
  /** The offending value as JSON, cut to a readable length. */
  readonly value?: string;
  /** What would be accepted. */
  readonly choices?: readonly string[];
  /** The choice that was probably meant. */
  readonly suggestion?: string;
}

/** `file:line:column`, or the file alone when there is no place in it. */
export function formatPosition(at: Position): string {
  return at.line === 0 ? at.file : `${at.file}:${at.line}:${at.column}`;
}

/** One line for people: place, message, value, choices, suggestion. */
export function formatProblem(problem: Problem): string {
  const parts = [`${formatPosition(problem)}  ${problem.message}`];
  if (problem.value !== undefined) parts.push(`found ${problem.value}`);
  if (problem.choices?.length) parts.push(`choices: ${problem.choices.join(", ")}`);
  if (problem.suggestion !== undefined) parts.push(`did you mean ${problem.suggestion}?`);
  return parts.join("; ");
}

/** Orders by file, then line, then column. */
export function compareProblems(a: Problem, b: Problem): number {
  return a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column;
}
