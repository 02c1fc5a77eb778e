/** The summary of a step: whole, within GitHub's limit, and nothing in it is markup that we did not write. */
import { expect, test } from "vitest";
import { checklistMarkdown, mostBytes } from "../../../src/report/checklist/markdown.ts";
import { answer, reportOf } from "../../checklist/fake-report.ts";
import { largeReport, oddReport } from "./odd-report.ts";

test("the worst comes first, with the score, the reasons and the trend", async () => {
  const text = checklistMarkdown(await oddReport());
  expect(text).toMatch(
    /^## Checklist: fail\n\n\*\*11 of 15 pass\*\*, 1 fail, 1 unknown, 1 waived, 1 not applicable, 1 waiver\(s\) in error, 1 problem\(s\) in job files\n/,
  );
  const rows = text.split("\n").filter((line) => /^\| [✅❌❔⏸➖]/u.test(line));
  expect(rows.length).toBe(15);
  expect(rows.slice(0, 3).map((row) => row.split(" | ")[1])).toEqual(["02 fake-2", "03 fake-3", "04 fake-4"]);
  expect(text).toMatch(/^- item 2: worse \(pass → fail\)$/m);
  expect(text).toMatch(/^- against old\.json of 2026-06-01T00:00:00\.000Z: 0 better, 1 worse, 14 new$/m);
});

test("texts stay texts: no HTML, no table that breaks", async () => {
  const text = checklistMarkdown(await oddReport());
  expect(text).not.toContain("<script>");
  for (const row of text.split("\n").filter((line) => line.startsWith("| ")))
    expect(row.replaceAll("\\|", "").split("|").length, row).toBe(6);
});

test("a pass says so in few lines", async () => {
  const text = checklistMarkdown(await reportOf());
  expect(text).toMatch(/^## Checklist: pass/);
  expect(text).not.toContain("Open answers");
});

test("above the limit lines are left out from the end, and counted", async () => {
  const report = await largeReport(2_000);
  const text = checklistMarkdown(report);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
  expect(Buffer.byteLength(text)).toBeGreaterThan(mostBytes - 2_000);
  const shown = text.split("\n").filter((line) => /^- [❌❔]/u.test(line)).length;
  const left = Number(/^(\d+) more open answer\(s\) are in the full report\.$/m.exec(text)?.[1]);
  expect(shown + left).toBe(10_000);
  expect(text.trimEnd()).toMatch(/escapement 1\.2\.3$/);
});

test("characters of many bytes count as bytes", async () => {
  const answers = Array.from({ length: 4_000 }, () => answer("fail", { message: "😀".repeat(100) }));
  expect(Buffer.byteLength(checklistMarkdown(await reportOf({ 3: answers })))).toBeLessThanOrEqual(mostBytes);
});
