/** Prints what is wrong with definition files, one line a problem. */
import { cleaned } from "../base/cleaned.ts";
import { EscapementError } from "../base/errors.ts";
import { formatPosition, formatProblem, type Problem } from "../spec/problem.ts";
import { oneLine, paint, print } from "./terminal.ts";

/** On standard output, for commands whose answer this is. */
export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) print(lineOf(problem));
}

/**
 * For commands that need the files to be right. With --quiet as well: this is no word about the work.
 * @throws E_SPEC_INVALID after telling every problem on standard error
 */
export function failOnProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  for (const problem of problems) process.stderr.write(`${lineOf(problem)}\n`);
  const files = [...new Set(problems.map(({ file }) => cleaned(file)))];
  const named =
    files.length > 3 ? `${files.slice(0, 3).join(", ")} and ${files.length - 3} more` : files.join(", ");
  throw new EscapementError("E_SPEC_INVALID", { count: problems.length, files: named });
}

/** Names of files and keys are others' text, and may have ends of lines in them. */
function lineOf(problem: Problem): string {
  const place = formatPosition(problem);
  return oneLine(paint.bold(place) + formatProblem(problem).slice(place.length));
}
