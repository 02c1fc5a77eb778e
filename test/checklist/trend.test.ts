/** What changed since the last run: items as a whole, and scopes within them. */
import { expect, test } from "vitest";
import type { Result } from "../../src/checklist/item.ts";
import type { ChecklistReport } from "../../src/checklist/report-schema.ts";
import { summaryOf } from "../../src/checklist/trend.ts";
import { answer, at, job, now, reportOf, runsOf, waiver } from "./fake-report.ts";

const baselineOf = (report: Pick<ChecklistReport, "items">) => ({
  from: "old.json",
  summary: { at, commit: null, items: summaryOf(report.items, now) },
});

async function trend(before: Record<number, Result[]>, after: Record<number, Result[]>) {
  const old = await reportOf(before);
  return (await reportOf(after, { baseline: baselineOf(old) })).trend!;
}

const itemsOf = (found: NonNullable<ChecklistReport["trend"]>) =>
  found.changes.filter(({ scope }) => scope === null).map(({ item, change }) => [item, change]);

test("nothing has changed", async () => {
  const same = { 3: [answer("fail")], 4: [answer("unknown", { scope: job("a/b") })] };
  expect(await trend(same, same)).toMatchObject({ better: 0, worse: 0, new: 0, changes: [] });
});

test("items get better and worse", async () => {
  const found = await trend(
    {
      1: [answer("fail")],
      2: [answer("unknown")],
      3: [answer("pass")],
      4: [answer("unknown")],
      5: [answer("not-applicable")],
    },
    {
      1: [answer("unknown")],
      2: [answer("pass")],
      3: [answer("fail")],
      4: [answer("fail")],
      5: [answer("pass")],
    },
  );
  expect(itemsOf(found)).toEqual([
    [1, "better"],
    [2, "better"],
    [3, "worse"],
    [4, "worse"],
  ]);
  expect(found).toMatchObject({ better: 2, worse: 2, new: 0, against: { from: "old.json", at } });
});

test("one job that opens while another is mended is seen, though the item stays as it was", async () => {
  const found = await trend(
    { 3: [answer("fail", { scope: job("a/b") })] },
    { 3: [answer("fail", { scope: job("a/c") })] },
  );
  expect(found).toMatchObject({ better: 0, worse: 0 });
  expect(found.changes.map(({ scope, change }) => [scope?.name, change])).toEqual([
    ["a/c", "new"],
    ["a/b", "better"],
  ]);
  expect(found.changes[1]).toMatchObject({ before: "fail", now: "pass" });
});

test("an item that was not there is new", async () => {
  const old = await reportOf({}, { runs: await runsOf({}, [1, 2]) });
  const found = (await reportOf({}, { baseline: baselineOf(old) })).trend!;
  expect(found.new).toBe(13);
});

test("a waiver that ends makes its item worse", async () => {
  const waived = await reportOf({ 3: [answer("fail")] }, { waivers: [waiver(3, { kind: "cluster" })] });
  const found = (await reportOf({ 3: [answer("fail")] }, { baseline: baselineOf(waived) })).trend!;
  expect(itemsOf(found)).toEqual([[3, "worse"]]);
});

test("what is only waived was not mended; a new fault that is waived is worse", async () => {
  const waivers = [waiver(3, { kind: "cluster" }), waiver(4, { kind: "cluster" })];
  const old = await reportOf({ 3: [answer("fail")] });
  const after = { 3: [answer("fail")], 4: [answer("fail")] };
  const found = (await reportOf(after, { waivers, baseline: baselineOf(old) })).trend!;
  expect(found).toMatchObject({ better: 0, worse: 1 });
  expect(itemsOf(found)).toEqual([[4, "worse"]]);
});
