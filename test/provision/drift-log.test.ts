import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DriftLog } from "../../src/provision/drift/drift-log.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "escapement-drift-"));
  file = join(folder, "deep", "drift.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (host: string, answer: "yes" | "no") => ({
  at: "2026-01-01T00:00:00Z",
  host,
  answer,
  deviations: answer === "no" ? [{ id: "file:/a", answer, because: "differs" } as const] : [],
});

test("says what is new since the last look, across processes", async () => {
  const log = await DriftLog.open(file);
  expect(await log.append(entry("a", "yes"))).toBe(true);
  expect(await log.append(entry("a", "yes"))).toBe(false);
  expect(await log.append(entry("b", "yes"))).toBe(true);
  const again = await DriftLog.open(file);
  expect(await again.append(entry("a", "yes"))).toBe(false);
  expect(await again.append(entry("a", "no"))).toBe(true);
});

test("a line changed, taken out or cut short shows", async () => {
  const log = await DriftLog.open(file);
  for (const host of ["a", "b", "c"]) await log.append(entry(host, "no"));
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const mangled: [lines: string[], complaint: RegExp][] = [
    [[lines[0]!, lines[2]!], /:2 does not follow/],
    [[lines[0]!.replace('"no"', '"yes"'), lines[1]!], /:1 was changed/],
    [[lines[0]!, "{"], /:2 is no JSON/],
  ];
  for (const [text, complaint] of mangled) {
    writeFileSync(file, `${text.join("\n")}\n`);
    await expect(DriftLog.open(file)).rejects.toThrow(complaint);
  }
  writeFileSync(file, `${lines[0]}\n${lines[1]!.slice(0, 40)}`);
  await expect(DriftLog.open(file)).rejects.toThrow(/:2 is cut short/);
});
