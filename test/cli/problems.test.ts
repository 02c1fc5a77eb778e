/** Problems of files, as they are shown: a line each, whatever a file or a key is called. */
import { afterEach, expect, test, vi } from "vitest";
import { failOnProblems, printProblems } from "../../src/cli/problems.ts";
import type { Problem } from "../../src/spec/problem.ts";

afterEach(() => vi.restoreAllMocks());

const problem = (change: Partial<Problem>): Problem => ({
  ...{ file: "jobs/a.yaml", line: 5, column: 3, path: "spec.cron", message: "is not a known field" },
  ...change,
});

test.each<[string, Partial<Problem>, string]>([
  [
    "a key with an end of line",
    { path: "spec.cron\nok: 1 Job in 1 file, no problem" },
    "jobs/a.yaml:5:3  spec.cron ok: 1 Job in 1 file, no problem is not a known field",
  ],
  [
    "a file with an end of line",
    { file: "jobs/a\nb.yaml" },
    "jobs/a b.yaml:5:3  spec.cron is not a known field",
  ],
  [
    "a key that turns what follows",
    { path: "spec.\u061ccron\u202e" },
    "jobs/a.yaml:5:3  spec. cron  is not a known field",
  ],
])("%s is shown on one line", (_, change, line) => {
  const stdout = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  printProblems([problem(change)]);
  expect(stdout.mock.calls).toEqual([[`${line}\n`]]);
  expect(() => failOnProblems([problem(change)])).toThrow(/^[^\n\u061c]*$/);
  expect(stderr.mock.calls).toEqual([[`${line}\n`]]);
});
