/** Imports point one way, and each library has one door. The rule: docs/architecture.md. */
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, read, repositoryFiles } from "./repository.ts";

/** A folder of src/ may import from folders of earlier lines, never from its own line's others or a later one. */
const levels = [
  ["base"],
  ["spec"],
  ["schedule", "capacity", "hardware"],
  ["store", "remote"],
  ["provision", "scheduler", "executor", "guard", "watchman", "chaos", "checklist"],
  ["report"],
  ["lab"],
  ["tui"],
  ["cli"],
];

/** Where each library may be imported: files, or whole folders. Node's own modules may be imported anywhere. */
const doors: Record<string, readonly string[]> = {
  pg: ["src/store/database.ts"],
  yaml: ["src/spec/yaml.ts"],
  zod: ["src/"],
  commander: ["src/cli/"],
  pino: ["src/base/log.ts"],
  picocolors: ["src/cli/terminal.ts"],
  "fastest-levenshtein": ["src/spec/closest.ts", "src/cli/"],
  ssh2: ["src/remote/"],
  ink: ["src/tui/"],
  react: ["src/tui/"],
  "write-excel-file": ["src/report/"],
};

/** @returns the complaints about one file of src/ */
function complaints(file: string, source: string): string[] {
  const found: string[] = [];
  for (const target of importsOf(source)) {
    if (target.startsWith("node:")) continue;
    if (!target.startsWith(".")) {
      const library = target.startsWith("@")
        ? target.split("/").slice(0, 2).join("/")
        : target.split("/")[0]!;
      const open = doors[library];
      if (!open) found.push(`${file}: ${library} has no door; add one to test/architecture/imports.test.ts`);
      else if (!open.some((door) => file === door || (door.endsWith("/") && file.startsWith(door))))
        found.push(`${file}: ${library} may be imported only in ${open.join(", ")}`);
      continue;
    }
    const path = posix.normalize(posix.join(posix.dirname(file), target));
    const from = file.split("/")[1]!;
    const to = path.split("/")[1]!;
    if (!path.startsWith("src/")) found.push(`${file}: ${target} leaves src/`);
    else if (from !== to && levelOf(to) >= levelOf(from))
      found.push(`${file}: ${from} must not import from ${to} (${target})`);
  }
  return found;
}

function levelOf(folder: string): number {
  const level = levels.findIndex((line) => line.includes(folder));
  if (level < 0) throw new Error(`src/${folder} has no level; add one to test/architecture/imports.test.ts`);
  return level;
}

const sources = repositoryFiles().filter((path) => /^src\/[^/]+\/.*\.tsx?$/.test(path));

test("every import of src/ points to an earlier level, through the right door", () => {
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.flatMap((file) => complaints(file, read(file)))).toEqual([]);
});

describe("the rule itself", () => {
  const cases: [file: string, line: string, complaint: RegExp | undefined][] = [
    ["src/spec/a.ts", 'import { x } from "../base/b.ts";', undefined],
    ["src/spec/a.ts", 'import type { X } from "../store/b.ts";', /spec must not import from store/],
    ["src/spec/a.ts", 'export * from "../schedule/b.ts";', /spec must not import from schedule/],
    [
      "src/executor/a.ts",
      'import {\n  x,\n} from "../scheduler/b.ts";',
      /executor must not import from scheduler/,
    ],
    ["src/executor/deep/a.ts", 'import "../b.ts";', undefined],
    ["src/cli/a.ts", 'const m = await import("../lab/b.ts");', undefined],
    ["src/base/a.ts", 'const m = await import("../cli/b.ts");', /base must not import from cli/],
    ["src/lab/a.ts", 'import pg from "pg";', /pg may be imported only in/],
    ["src/lab/a.ts", 'import pg from "left-pad";', /left-pad has no door/],
    ["src/lab/a.ts", 'import { x } from "../../test/b.ts";', /leaves src/],
    ["src/lab/a.ts", '/* import pg from "pg"; */\n// import pg from "pg";', undefined],
  ];
  test.each(cases)("%s: %s", (file, line, complaint) => {
    const found = complaints(file, line);
    if (complaint) expect(found).toEqual([expect.stringMatching(complaint)]);
    else expect(found).toEqual([]);
  });
});
