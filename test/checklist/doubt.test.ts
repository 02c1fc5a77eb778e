/** Edits by hand in a report that is not signed: an answer that no run can give is not believed. */
import { expect, test } from "vitest";
import type { AgedFact, Result } from "../../src/checklist/item.ts";
import { judge } from "../../src/checklist/judge.ts";
import { parseReport } from "../../src/checklist/read-report.ts";
import type { ChecklistReport } from "../../src/checklist/report-schema.ts";
import { answer, at, evidence, now, reportOf, waiver } from "./fake-report.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The report as a text editor would leave it. */
async function edited(edit: (report: ChecklistReport) => void): Promise<ChecklistReport> {
  const report = structuredClone(await reportOf());
  edit(report);
  return report;
}

const first = (report: ChecklistReport, item: number) => report.items[item]!.results[0]!;

test.each<[string, (report: ChecklistReport) => void, RegExp]>([
  [
    "not applicable, of a question that always applies",
    (report) => {
      first(report, 1).verdict = "not-applicable";
    },
    /item 1 .*unknown.*always applies/,
  ],
  [
    "not applicable without evidence",
    (report) => {
      Object.assign(first(report, 14), { verdict: "not-applicable", evidence: [] });
    },
    /item 14 .*no evidence/,
  ],
  [
    "the watchman as a whole does not apply",
    (report) => {
      first(report, 8).verdict = "not-applicable";
    },
    /item 8 .*always applies to something/,
  ],
  [
    "evidence that shows nothing",
    (report) => {
      first(report, 3).evidence = [evidence({ what: " ", output: "" })];
    },
    /item 3 .*no evidence/,
  ],
  [
    "evidence of an earlier run",
    (report) => {
      first(report, 3).evidence = [evidence({ at: "2026-06-20T02:00:00.000Z" })];
    },
    /item 3 .*not of this run/,
  ],
  [
    "evidence of the future",
    (report) => {
      first(report, 11).evidence = [evidence({ kind: "drill", at: "2026-07-20T02:00:00.000Z" })];
    },
    /item 11 .*not of this run/,
  ],
  [
    "a drill too long ago",
    (report) => {
      first(report, 11).evidence = [evidence({ kind: "drill", at: "2026-06-20T02:00:00.000Z", ageMs: 1 })];
    },
    /item 11 .*older than 8d/,
  ],
  [
    "a restore too long ago",
    (report) => {
      first(report, 0).evidence = [evidence({ fact: "restore", ageMs: 9 * dayMs })];
    },
    /item 0 .*the last restore is older than 8d/,
  ],
  [
    "a fact without its age",
    (report) => {
      first(report, 0).evidence = [evidence({ fact: "backup" })];
    },
    /item 0 .*the last backup is older than 1d2h/,
  ],
  [
    "one item was asked",
    (report) => {
      report.asked.items = [1];
    },
    /only 1 of the items/,
  ],
  [
    "no item was asked",
    (report) => {
      report.asked.items = [];
    },
    /only none of the items/,
  ],
  [
    "a window of another time",
    (report) => {
      report.window = { from: "0001-01-01T00:00:00Z", to: "2001-01-01T00:00:00Z" };
    },
    /do not end at the time of the run/,
  ],
  [
    "a window of the future",
    (report) => {
      report.window.to = "2027-07-01T02:00:00.000Z";
    },
    /do not end at the time of the run/,
  ],
  [
    "a cluster without an id",
    (report) => {
      report.cluster.id = " ";
    },
    /which cluster/,
  ],
])("%s: unknown", async (_, edit, reason) => {
  const { outcome, reasons } = judge(await edited(edit), now);
  expect(reasons.join("\n")).toMatch(reason);
  expect(outcome).toBe("unknown");
});

test("what runs do give stands: jobs that only people run, a drill of last week, all items by number", async () => {
  const drill = evidence({ kind: "drill", at: "2026-06-25T02:00:00.000Z", ageMs: 6 * dayMs });
  const report = await edited((one) => {
    first(one, 14).verdict = "not-applicable";
    first(one, 11).evidence = [evidence(), drill];
    one.items[8]!.results.push({ ...structuredClone(first(one, 8)), verdict: "not-applicable" });
    one.asked.items = Array.from({ length: 15 }, (_, i) => i);
  });
  expect(judge(report, now).reasons).toEqual([]);
  // The same drill is too old for a gate three days later.
  expect(judge(report, new Date(now.getTime() + 3 * dayMs)).outcome).toBe("unknown");
});

test.each<[item: number, facts: Partial<Record<AgedFact, number>>, goodForMs: number, RegExp]>([
  [0, { backup: 2 * hourMs, restore: dayMs }, dayMs, /the last backup is older than 1d2h/],
  [0, { restore: 7 * dayMs, backup: 0 }, dayMs, /the last restore is older than 8d/],
  [8, { testAlert: 6 * dayMs }, 2 * dayMs, /the last test alert is older than 8d/],
  [13, { archive: 5 * dayMs, archiveRestore: 20 * dayMs }, 3 * dayMs, /the last archive is older than 8d/],
  [13, { archive: 0, archiveRestore: 91 * dayMs }, dayMs, /the last restore is older than 92d/],
])("what item %i shows goes on ageing after the run: %j", async (item, facts, goodForMs, reason) => {
  const report = await edited((one) => {
    first(one, item).evidence = [
      evidence(),
      ...Object.entries(facts).map(([fact, ageMs]) => evidence({ fact: fact as AgedFact, ageMs })),
    ];
  });
  const after = (ms: number) => judge(report, new Date(now.getTime() + ms));
  expect(after(goodForMs).reasons).toEqual([]);
  const { outcome, reasons } = after(goodForMs + 1);
  expect(outcome).toBe("unknown");
  expect(reasons).toEqual([expect.stringMatching(reason)]);
});

test("a look at the cluster is as old as its report, and a fact of a later version has no limit here", async () => {
  const report = await edited((one) => {
    first(one, 10).evidence = [evidence({ ageMs: 9 * 60_000 })];
    first(one, 13).evidence = [{ ...evidence(), fact: "audit", ageMs: 400 * dayMs }];
  });
  expect(judge(report, new Date(now.getTime() + 6 * dayMs)).reasons).toEqual([]);
});

test.each<[string, (report: ChecklistReport) => void, RegExp]>([
  [
    "evidence without a question",
    (report) => {
      first(report, 3).evidence = [evidence({ what: "" })];
    },
    /items\.3\.results\.0\.evidence\.0\.what/,
  ],
  [
    "evidence without a time",
    (report) => {
      first(report, 3).evidence = [evidence({ at: "" })];
    },
    /evidence\.0\.at/,
  ],
  [
    "an item that there is not",
    (report) => {
      report.items.push({ ...report.items[1]!, number: 15 });
    },
    /items\.15\.number/,
  ],
  [
    "an empty id of the cluster",
    (report) => {
      report.cluster.id = "";
    },
    /cluster\.id/,
  ],
])("%s is no report", async (_, edit, message) => {
  const text = JSON.stringify(await edited(edit));
  expect(() => parseReport(text, "r.json")).toThrow(message);
});

test.each<[string, object, RegExp]>([
  ["no owner", { owner: "" }, /names no owner/],
  ["nobody who approved it", { approver: "" }, /names nobody/],
  ["an approver that nobody sees", { approver: "\u3164\u200b\u034f\u0001" }, /names nobody/],
  ["a reason that nobody sees", { reason: "\u2800\u3164" }, /gives no reason/],
  ["the owner and a sign that nobody sees", { approver: "a\u034fda\u0001\u3164" }, /approved by its owner/],
])("a waiver in a report with %s covers nothing", async (_, change, reason) => {
  const open: Result = answer("fail");
  const report = await reportOf({ 3: [open] }, { waivers: [waiver(3, { kind: "cluster" }, change)] });
  const judged = judge(report, new Date(at));
  expect(judged.outcome).toBe("fail");
  expect(judged.reasons.join()).toMatch(reason);
});
