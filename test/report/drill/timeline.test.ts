/** The picture of a run: everything of the history is in it once, where its time is, and nothing of it is markup. */
import { expect, test } from "vitest";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import type { History } from "../../../src/chaos/history.ts";
import { drillTimeline } from "../../../src/report/drill/timeline.ts";

const base = Date.parse("2026-11-19T10:00:00.000Z");
const at = (s: number) => new Date(base + s * 1_000).toISOString();

const report = {
  drill: "kill-executor",
  variant: "kept-down",
  verdict: "fail",
  target: { host: "exec-1", part: "executor", unit: "escapement-executor.service" },
  startedAt: at(0),
  faultAt: at(20),
  restoredAt: at(60),
  endedAt: at(100),
  clocks: [
    { at: at(10), clock: "exec-1", offsetMs: 0, uncertaintyMs: 1 },
    { at: at(30), clock: "exec-1", offsetMs: 300_000, uncertaintyMs: 1 },
    { at: at(30), clock: "database", offsetMs: 0, uncertaintyMs: 1 },
  ],
} as unknown as DrillReport;

function attempt(s: number, owner: string, status: "success" | "failed" | "interrupted", shardNo = 0) {
  const fire = { job: "drill/probe-1", fireTime: at(s) };
  return {
    ...fire,
    shardNo,
    attempt: 1,
    fenceToken: s * 10 + shardNo,
    owner,
    startedAt: at(s),
    endedAt: at(s + 4),
    status,
  };
}

const attempts = [
  attempt(10, "a".repeat(36), "success"),
  attempt(20, "a".repeat(36), "interrupted"),
  attempt(30, "<b>&", "success"),
];
const history = {
  obligations: [10, 20, 30].map((s) => ({
    job: "drill/probe-1",
    fireTime: at(s),
    shardCount: 1,
    allowed: "exactly-one",
    mode: "once",
  })),
  attempts,
  effects: [attempts[0]!, attempts[2]!].map((one, seq) => ({ ...one, seq, payload: "x" })),
  refusals: [{ ...attempts[1]!, seq: 9, reason: "stale" }],
  sightings: [],
  faults: [],
} as unknown as History;

const count = (svg: string, pattern: RegExp) => (svg.match(pattern) ?? []).length;

test("every fire, attempt, effect and refusal is there once; a fire without an effect is a cross", () => {
  const svg = drillTimeline(report, history);
  expect(count(svg, /<g class="fire">/g)).toBe(3);
  expect(count(svg, /<g class="fire"><path/g)).toBe(1);
  expect(count(svg, /class="attempt"/g)).toBe(3);
  expect(count(svg, /class="effect"/g)).toBe(2);
  expect(count(svg, /class="refusal"/g)).toBe(1);
  expect(count(svg, /class="clock"/g)).toBe(2);
  expect(svg).toContain(`<title>drill/probe-1 ${at(20)}: no effect</title>`);
});

test("an attempt stands beside the name of its node, or else of its executor", () => {
  const named = {
    ...history,
    attempts: attempts.map((one, i) => (i === 0 ? { ...one, node: "exec-7" } : one)),
  };
  const lanes = [...drillTimeline(report, named).matchAll(/text-anchor="end"[^>]*>([^<]+)</g)].map(
    (one) => one[1],
  );
  expect(lanes.slice(0, 5)).toEqual(["fires", "exec-7", "a".repeat(20), "&lt;b&gt;&amp;", "effects"]);
});

test("time runs from left to right, and ticks count from the fault", () => {
  const svg = drillTimeline(report, history);
  const [, x, wide] = /class="fault" x="([\d.]+)" y="\d+" width="([\d.]+)"/.exec(svg)!.map(Number);
  // 810 wide for 100 s: the fault is at 20 s for 40 s.
  expect(x).toBeCloseTo(150 + 810 * 0.2, 0);
  expect(wide).toBeCloseTo(810 * 0.4, 0);
  expect(svg).toMatch(/>0 s<.*\n.*>\+10 s</);
  expect(svg).toContain(">-20 s<");
});

test("what stands in the history stays text, and every tag is closed", () => {
  const svg = drillTimeline(report, history);
  expect(svg).toContain("&lt;b&gt;&amp;");
  expect(svg).not.toContain("<b>");
  const open: string[] = [];
  for (const [, close, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (close) expect(open.pop()).toBe(name);
    else if (!self) open.push(name!);
  }
  expect(open).toEqual([]);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

test("a run that did not come to a judgement, or not even to a fault, has a picture, too", () => {
  const early = { ...report, faultAt: null, restoredAt: null, target: null, clocks: [] } as DrillReport;
  const svg = drillTimeline(early, null);
  expect(svg).toContain("on no host");
  expect(svg).not.toContain('class="fault"');
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  const never = drillTimeline({ ...report, restoredAt: null } as DrillReport, history);
  expect(never).toContain("to the end</title>");
});
