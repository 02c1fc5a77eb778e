/** The registry of errors has no dead entries, and every error tells what to do next. */
import { expect, test } from "vitest";
import { type ErrorCode, EscapementError, errorCodes } from "../../src/base/errors.ts";
import { exitCodeMeaning } from "../../src/base/exit-code.ts";
import { read, repositoryFiles } from "./repository.ts";

const sources = repositoryFiles().filter(
  (path) => /^src\/.*\.tsx?$/.test(path) && path !== "src/base/errors.ts",
);
const text = sources.map(read).join("\n");

test("every code is raised somewhere in src/", () => {
  expect(errorCodes.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
});

test("every code has a message, a hint and a known exit code", () => {
  for (const code of errorCodes) expectWhole(code);
});

function expectWhole(code: ErrorCode): void {
  // Any parameter that the texts ask for is "x" here.
  const params = new Proxy({}, { get: () => "x" }) as Record<string, string>;
  const error = new EscapementError(code, params);
  expect(error.message, code).not.toBe("");
  expect(error.hint, code).not.toBe("");
  expect(error.message + error.hint).not.toMatch(/[{}]/);
  expect(exitCodeMeaning).toHaveProperty(String(error.exitCode));
}

test("an error whose hint is a parameter is never raised without one", () => {
  const hinted = errorCodes.filter((code) => new EscapementError(code, { hint: "h!" }).hint === "h!");
  expect(hinted.length).toBeGreaterThan(0);
  const bare = new RegExp(`new EscapementError\\(\\s*"(?:${hinted.join("|")})",\\s*\\{([^{}]*)\\}`, "g");
  const missing = sources.flatMap((path) =>
    [...read(path).matchAll(bare)]
      .filter((match) => !/\bhint\b/.test(match[1]!))
      .map((match) => `${path}: ${match[0]}`),
  );
  expect(missing).toEqual([]);
});
