/** The matrix on the page is the one that the command prints, and it knows every class. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { failureClasses } from "../../../src/watchman/diagnose/diagnosis.ts";
import { failureMatrix, matrixText } from "../../../src/watchman/diagnose/failure-matrix.ts";

test("docs/failure-matrix.md holds what diagnose --matrix prints", () => {
  const page = readFileSync(new URL("../../../docs/failure-matrix.md", import.meta.url), "utf8");
  expect(page).toContain(matrixText());
});

test("every class that diagnose reports belongs to one kind", () => {
  expect(failureMatrix.flatMap(({ classes }) => classes).sort()).toEqual([...failureClasses].sort());
});
