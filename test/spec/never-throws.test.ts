/** Whatever is in a file, reading it ends with documents and problems, and every problem has a place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadText } from "../../src/spec/load.ts";
import { formatProblem, type Problem } from "../../src/spec/problem.ts";
import { resolveJobs } from "../../src/spec/resolve.ts";
import { fullJob } from "./full-job.ts";

/** Reads a text as a command would. @returns the problems, after checking that each can be shown */
function problemsOf(text: string): Problem[] {
  const loaded = loadText(text, "x.yaml");
  const problems = [...loaded.problems, ...resolveJobs(loaded.documents).problems];
  const lines = text.split(/\n|\r\n?/).length;
  for (const problem of problems) {
    expect(problem.message).not.toBe("");
    expect(formatProblem(problem)).toMatch(/^x\.yaml/);
    expect(problem.line).toBeLessThanOrEqual(lines + 1);
    if (!problem.message.startsWith("is empty: there is no document")) {
      expect(problem.line).toBeGreaterThan(0);
      expect(problem.column).toBeGreaterThan(0);
    }
  }
  return problems;
}

const piece = fc.constantFrom(
  ..."- |: |, |{|}|[|]|\n|\n  |\n    |\t|*a|&a |? |! |!!str |!!binary |!x |%YAML 1.1\n|---\n|...\n|<<: *a|'|\"|| |> |#|0x1F|.inf|~|null".split(
    "|",
  ),
  ..."|apiVersion: escapement/v1\n|kind: Job\n|metadata: |spec:\n  |name: a|\\u0000|\r\n|__proto__: 1\n|constructor: 1\n".split(
    "|",
  ),
  "@daily",
  "|\n",
);

test("any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void problemsOf(text)),
    {
      numRuns: 2_000,
    },
  );
});

test("any sequence of YAML's own pieces", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => void problemsOf(pieces.join(""))),
    { numRuns: 5_000 },
  );
});

test("a document of any shape", () => {
  const metadata = fc.oneof(
    fc.constant({ name: "x" }),
    fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text)),
  );
  fc.assert(
    fc.property(fc.constantFrom("Job", "Cluster", "Other"), metadata, fc.json(), (kind, meta, spec) => {
      const document = { apiVersion: "escapement/v1", kind, metadata: meta, spec: JSON.parse(spec) };
      expect(problemsOf(JSON.stringify(document)).length).toBeGreaterThan(0);
    }),
    { numRuns: 1_000 },
  );
});

describe("a right job with one value exchanged", () => {
  const paths = pathsOf(fullJob());
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      "",
      "0",
      0,
      -1,
      1e300,
      [],
      {},
      true,
      "30s",
      "999999d",
      "*",
      "Europe/berlin",
      { toString: 0, toJSON: 0 },
    ),
    fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as unknown),
  );
  test("is a right job or has a problem, and never throws", () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), value, (path, replacement) => {
        const job = fullJob();
        exchange(job, path, replacement);
        problemsOf(JSON.stringify(job, null, 1));
      }),
      { numRuns: 3_000 },
    );
  });

  const optional = /^(namespace|description|workingDirectory|environment|period|heavy|onStoreLoss|[A-Z].*)$/;
  test("with one field left out, is told so at a place", () => {
    for (const path of paths.filter((path) => typeof path.at(-1) === "string")) {
      const job = fullJob();
      exchange(job, path, undefined);
      const paths = problemsOf(JSON.stringify(job)).map((problem) => problem.path);
      const name = String(path.at(-1));
      if (optional.test(name)) expect(paths, path.join(".")).toEqual([]);
      // A map of which exactly one key is wanted is told as a whole.
      else expect(paths, path.join(".")).toEqual([name === "cron" ? "spec.schedule" : pathText(path)]);
    }
  });
});

test.each([
  ["a document that contains itself", "a: &a\n  b: *a\n"],
  [
    "aliases that multiply",
    `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`)}]`).join("\n")}\n`,
  ],
  ["twenty thousand brackets", "[".repeat(20_000)],
  ["twenty thousand closed brackets", "[".repeat(20_000) + "]".repeat(20_000)],
  ["two thousand nested keys", Array.from({ length: 2_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ["twenty thousand keys", Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join("\n")],
  ["keys of the prototype", "__proto__: { kind: Job }\nconstructor: 1\nkind: Job\n"],
  ["a kind of the prototype", "kind: constructor\n"],
  ["only a comment", "# nothing here\n"],
  ["only separators", "---\n---\n...\n"],
  ["nothing", ""],
])("%s", (_, text) => {
  expect(problemsOf(text).length).toBeGreaterThan(0);
});

test("aliases that multiply are refused before they are followed", () => {
  const bomb = Array.from({ length: 9 }, (_, i) => `  a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`)}]`);
  const [problem] = problemsOf(`kind: Job\nspec:\n  a0: &a0 [x]\n${bomb.join("\n")}\n`);
  expect(problem?.message).toMatch(/alias count/);
});

function pathText(path: (string | number)[]): string {
  return path.join(".").replace(/\.(\d+)/g, "[$1]");
}

function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  const below =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, item]) =>
          pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return path.length === 0 ? below : [path, ...below];
}

function exchange(root: unknown, path: (string | number)[], value: unknown): void {
  let target = root as Record<string | number, unknown>;
  for (const part of path.slice(0, -1)) target = target[part] as Record<string | number, unknown>;
  target[path.at(-1)!] = value;
}
