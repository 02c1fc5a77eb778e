/** Waivers: beside the verdict, never in its place; and never silently without effect. */
import { expect, test } from "vitest";
import { answer, clusterScope, head, job, reportOf, runsOf, waiver } from "./fake-report.ts";

const cluster = { kind: "cluster" } as const;

test("a waived answer keeps its verdict, and the item counts as waived", async () => {
  const report = await reportOf({ 3: [answer("fail")] }, { waivers: [waiver(3, cluster)] });
  expect(report.outcome).toBe("pass");
  expect(report.items[3]).toMatchObject({
    verdict: "waived",
    results: [
      {
        verdict: "fail",
        waiver: {
          owner: "ada",
          approver: "grace",
          expires: "2026-08-01T00:00:00.000Z",
          file: "waivers.yaml",
          line: 6,
        },
      },
    ],
  });
});

test("it covers its scope and no other", async () => {
  const answers = { 3: [answer("fail", { scope: job("a/b") }), answer("fail", { scope: job("a/c") })] };
  const report = await reportOf(answers, { waivers: [waiver(3, job("a/b"))] });
  expect(report.outcome).toBe("fail");
  expect(report.items[3]!.results.map(({ waiver: one }) => one !== undefined)).toEqual([true, false]);
  expect(report.reasons).toEqual([expect.stringContaining("job a/c")]);
});

test("a name of another kind is another scope", async () => {
  const answers = { 3: [answer("fail", { scope: { kind: "host", name: "x" } })] };
  const report = await reportOf(answers, { waivers: [waiver(3, job("x"))] });
  expect(report.outcome).toBe("fail");
  expect(report.waiverProblems).toMatchObject([{ kind: "unmatched" }]);
});

test.each([
  ["expired", waiver(3, cluster, { expires: new Date("2026-07-01T02:00:00Z") })],
  ["not-begun", waiver(3, cluster, { created: new Date("2026-07-01T02:00:01Z") })],
  ["unmatched", waiver(3, { kind: "host", name: "gone" })],
  ["unknown-item", waiver(42, cluster)],
] as const)("%s is a failure of its own, with its place", async (kind, one) => {
  // Unknown of the cluster would say that not all was looked at.
  const open = answer(kind === "unmatched" ? "fail" : "unknown");
  const report = await reportOf({ 3: [open] }, { waivers: [one] });
  expect(report.outcome).toBe("fail");
  expect(report.waiverProblems).toMatchObject([{ kind, file: "waivers.yaml", line: 6, column: 5 }]);
  expect(report.items[3]).toMatchObject({ verdict: open.verdict });
  expect(report.items[3]!.results[0]!.waiver).toBeUndefined();
});

test("where the item could not be looked at, a waiver of one of its jobs is not called useless", async () => {
  const cannot = { 3: [answer("unknown", { evidence: [], message: "the store is away" })] };
  const report = await reportOf(cannot, { waivers: [waiver(3, job("a/b"))] });
  expect(report).toMatchObject({ outcome: "unknown", waiverProblems: [] });
  const partly = { 3: [answer("unknown", { scope: job("a/c") }), answer("pass")] };
  const looked = await reportOf(partly, { waivers: [waiver(3, job("a/b"))] });
  expect(looked.waiverProblems).toMatchObject([{ kind: "unmatched" }]);
});

test.each([
  ["unknown", []],
  ["unknown and waived", [waiver(2, cluster)]],
] as const)(
  "a name that no host has is no use beside hosts, also where the cluster is %s",
  async (_, more) => {
    const typed = waiver(2, { kind: "host", name: "sched-01" });
    const open = answer("unknown", { message: "no execution was planned in the window" });
    const host = answer("pass", { scope: { kind: "host", name: "sched-1" } });
    const among = await reportOf({ 2: [open, host] }, { waivers: [typed, ...more] });
    expect(among).toMatchObject({ outcome: "fail", waiverProblems: [{ kind: "unmatched", item: 2 }] });
    // Answers of jobs say nothing about hosts.
    const others = { 2: [open, answer("pass", { scope: job("a/b") })] };
    expect((await reportOf(others, { waivers: [typed, ...more] })).waiverProblems).toEqual([]);
  },
);

test("the last instant before it expires still counts", async () => {
  const one = waiver(3, cluster, { expires: new Date("2026-07-01T02:00:00.001Z") });
  expect((await reportOf({ 3: [answer("fail")] }, { waivers: [one] })).outcome).toBe("pass");
});

test("an answer that passes by now is left a pass, and the waiver is no failure", async () => {
  const report = await reportOf({}, { waivers: [waiver(3, cluster)] });
  expect(report).toMatchObject({ outcome: "pass", waiverProblems: [] });
  expect(report.items[3]).toMatchObject({ verdict: "pass" });
});

test("of an item that was not asked, only an expired waiver is told", async () => {
  const narrow = {
    runs: await runsOf({ 5: [answer("fail", { scope: clusterScope })] }, [5]),
    head: head({ asked: { items: [5], job: null } }),
  };
  const expired = waiver(4, cluster, { expires: new Date("2026-06-30T00:00:00Z") });
  const report = await reportOf(
    {},
    { ...narrow, waivers: [waiver(3, cluster), expired, waiver(5, cluster)] },
  );
  expect(report.waiverProblems.map(({ kind, item }) => [kind, item])).toEqual([["expired", 4]]);
  expect(report.items[0]!.verdict).toBe("waived");
});

test("a file outside the repository still gives a place inside", async () => {
  const one = waiver(42, cluster, { at: { file: "../elsewhere/waivers.yaml", line: 6, column: 5 } });
  const report = await reportOf({}, { waivers: [one] });
  expect(report.waiverProblems).toMatchObject([{ file: "cluster.yaml", line: 3 }]);
});
