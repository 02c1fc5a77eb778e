/** What a report comes to: fail outranks unknown, unknown outranks pass, and nothing is no pass. */
import { describe, expect, test } from "vitest";
import type { Result } from "../../src/checklist/item.ts";
import { judge } from "../../src/checklist/judge.ts";
import type { Waiver } from "../../src/spec/load-waivers.ts";
import { answer, head, job, now, reportOf, runsOf, waiver } from "./fake-report.ts";

const cases: [string, Record<number, Result[]>, "pass" | "fail" | "unknown"][] = [
  ["all pass", {}, "pass"],
  ["some do not apply", { 14: [answer("not-applicable")] }, "pass"],
  ["one fails", { 3: [answer("fail")] }, "fail"],
  ["one is unknown", { 3: [answer("unknown")] }, "unknown"],
  ["one fails and one is unknown", { 3: [answer("unknown")], 9: [answer("fail")] }, "fail"],
  ["one answer of many fails", { 3: [answer("pass"), answer("fail", { scope: job("a/b") })] }, "fail"],
  ["one answer of many is unknown", { 3: [answer("pass"), answer("unknown")] }, "unknown"],
];
test.each(cases)("%s", async (_, answers, outcome) => {
  const report = await reportOf(answers);
  expect(report.outcome).toBe(outcome);
  expect(judge(report, now).outcome).toBe(outcome);
  expect(report.reasons.length === 0).toBe(outcome === "pass");
});

test("nothing has run", async () => {
  const report = await reportOf({}, { runs: [] });
  expect(report).toMatchObject({ outcome: "unknown", reasons: ["no item has run"] });
});

test("nothing applies", async () => {
  const answers = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [i, [answer("not-applicable")]]));
  expect((await reportOf(answers)).outcome).toBe("unknown");
});

test("not all items were asked", async () => {
  const report = await reportOf(
    {},
    { runs: await runsOf({}, [3, 5]), head: head({ asked: { items: [3, 5], job: null } }) },
  );
  expect(report.outcome).toBe("unknown");
  expect(report.reasons).toEqual([expect.stringMatching(/^not all items were asked: 0, 1, 2, 4, /)]);
});

test("only one job was asked about", async () => {
  const report = await reportOf({}, { head: head({ asked: { items: null, job: "a/b" } }) });
  expect(report).toMatchObject({ outcome: "unknown", reasons: ["only job a/b was asked about"] });
});

test("an item that is there twice does not stand for another", async () => {
  const report = await reportOf();
  const items = report.items.map((item) => (item.number === 7 ? report.items[6]! : item));
  expect(judge({ ...report, items }, now)).toMatchObject({ outcome: "unknown" });
});

test("a job file that became no job fails", async () => {
  const problem = { file: "jobs/a.yaml", line: 4, column: 3, path: "spec.lease", message: "is missing" };
  const report = await reportOf({}, { definitionProblems: [problem] });
  expect(report.outcome).toBe("fail");
  expect(report.reasons).toEqual(["jobs/a.yaml:4: spec.lease is missing"]);
});

describe("a stored report", () => {
  test("an outcome and verdicts that were written by hand are not believed", async () => {
    const report = await reportOf({ 3: [answer("fail")] });
    const painted = {
      ...report,
      outcome: "pass" as const,
      items: report.items.map((item) => ({ ...item, verdict: "pass" as const })),
    };
    expect(judge(painted, now).outcome).toBe("fail");
  });

  test("a waiver that has run out since covers nothing", async () => {
    const report = await reportOf({ 3: [answer("unknown")] }, { waivers: [waiver(3, { kind: "cluster" })] });
    expect(report.outcome).toBe("pass");
    expect(judge(report, new Date("2026-07-31T23:59:59Z")).outcome).toBe("pass");
    const later = judge(report, new Date("2026-08-01T00:00:00Z"));
    expect(later.outcome).toBe("fail");
    expect(later.reasons.join()).toMatch(/has expired at 2026-08-01.*owner is ada/);
  });

  test.each<[string, Partial<Waiver>, RegExp]>([
    ["its owner approved", { approver: " A\u200BDA" }, /was approved by its owner/],
    ["holds for years", { expires: new Date("2099-01-01T00:00:00Z") }, /more than 90 days/],
    ["gives no reason", { reason: " " }, /gives no reason/],
  ])("a waiver that no file may hold covers nothing: %s", async (_, change, reason) => {
    const report = await reportOf(
      { 3: [answer("unknown")] },
      { waivers: [waiver(3, { kind: "cluster" }, change)] },
    );
    const judged = judge(report, now);
    expect(judged.outcome).toBe("fail");
    expect(judged.reasons.join()).toMatch(reason);
    expect(judged.verdicts.get(3)).toBe("unknown");
  });

  test("a pass that shows nothing, a store that was not asked, and a short window are unknown", async () => {
    const report = await reportOf();
    const bare = report.items.map((item) =>
      item.number === 3 ? { ...item, results: item.results.map((one) => ({ ...one, evidence: [] })) } : item,
    );
    expect(judge({ ...report, items: bare }, now).outcome).toBe("unknown");
    for (const change of [
      { cluster: { id: null, name: "pay" } },
      { window: { from: "2026-06-30T02:00:00.000Z", to: report.window.to } },
    ])
      expect(judge({ ...report, ...change }, now).outcome).toBe("unknown");
  });
});
