/** The book of alerts: when one opens, stays quiet, gets worse, is escalated, and is over. */
import { describe, expect, test } from "vitest";
import type { BookAlert, Observation, Outgoing } from "../../src/watchman/alert.ts";
import { advanceBook, type BookContext } from "../../src/watchman/alert-book.ts";
import { QuietTimes, type Silence } from "../../src/watchman/quiet.ts";

const start = Date.parse("2026-07-01T00:00:00Z");
const secondMs = 1_000;
const minuteMs = 60_000;

function finding(key: string, more: Partial<Observation> = {}): Observation {
  return {
    rule: "late-start",
    key,
    severity: "warning",
    message: `${key} is late.`,
    evidence: {},
    hint: "look",
    ...more,
  };
}

/** A book that passes go through, 30 s apart unless said otherwise. */
class Rehearsal {
  book = new Map<string, BookAlert>();
  nowMs = start;
  context: Partial<BookContext> = {};
  silences: Silence[] = [];
  windows = new QuietTimes([]);

  pass(seen: readonly Observation[], more: Partial<BookContext> = {}): string[] {
    const now = new Date(this.nowMs);
    const step = advanceBook(this.book, seen, {
      now,
      complete: true,
      inGrace: false,
      clearAfterMs: 45 * secondMs,
      rules: {},
      routes: [{ match: {}, channels: ["ops"], fallback: ["pager"] }],
      quiet: (alert) => this.windows.reason(alert, this.silences, now),
      ...this.context,
      ...more,
    });
    for (const alert of step.alerts) this.book.set(alert.key, alert);
    for (const key of step.forgotten) this.book.delete(key);
    this.nowMs += 30 * secondMs;
    return step.messages.map(line);
  }

  acknowledge(key: string): void {
    this.book.set(key, { ...this.book.get(key)!, acknowledged: new Date(this.nowMs) });
  }
}

function line({ channel, message }: Outgoing): string {
  return `${channel} ${message.phase} ${message.key} ${message.severity}`;
}

test("it opens when seen twice, is told once however long it lasts, and ends when it was not seen in two passes", () => {
  const all = new Rehearsal();
  expect(all.pass([finding("a")])).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops open a warning"]);
  for (let i = 0; i < 20; i++) expect(all.pass([finding("a")])).toEqual([]);
  expect(all.pass([])).toEqual([]);
  expect(all.pass([])).toEqual(["ops resolved a warning"]);
  expect(all.pass([])).toEqual([]);
});

test("what is seen once and then gone was nothing; a gap of one pass ends nothing", () => {
  const all = new Rehearsal();
  all.pass([finding("a")]);
  expect(all.pass([])).toEqual([]);
  expect(all.book.size).toBe(0);
  all.pass([finding("b")]);
  all.pass([finding("b")]);
  all.pass([]);
  expect(all.pass([finding("b")])).toEqual([]);
});

test("trouble that comes back is told again, as a new episode with other ids", () => {
  const all = new Rehearsal();
  all.pass([finding("a")]);
  all.pass([finding("a")]);
  all.pass([]);
  all.pass([]);
  all.acknowledge("a");
  all.pass([finding("a")]);
  expect(all.pass([finding("a")])).toEqual(["ops open a warning"]);
  expect(all.book.get("a")).toMatchObject({ episode: 2, acknowledged: null });
});

test("the same key twice in one pass is one alert", () => {
  const all = new Rehearsal();
  all.pass([finding("a"), finding("a")]);
  expect(all.pass([finding("a"), finding("a", { severity: "critical" })])).toEqual(["ops open a warning"]);
});

test("a rule with its own time must hold that long; with 0 it alerts at once", () => {
  const all = new Rehearsal();
  all.context = {
    rules: { "late-start": { enabled: true, forMs: 2 * minuteMs }, "no-leader": { enabled: true, forMs: 0 } },
  };
  const fast = finding("b", { rule: "no-leader" });
  expect(all.pass([finding("a"), fast])).toEqual(["ops open b warning"]);
  for (let i = 0; i < 3; i++) expect(all.pass([finding("a"), fast])).toEqual([]);
  expect(all.pass([finding("a"), fast])).toEqual(["ops open a warning"]);
});

test("a rule that is off says nothing; one with another severity says it with that", () => {
  const all = new Rehearsal();
  all.context = {
    rules: { "late-start": { enabled: false }, "few-rows": { enabled: true, severity: "critical" } },
  };
  const seen = [finding("a"), finding("b", { rule: "few-rows" })];
  all.pass(seen);
  expect(all.pass(seen)).toEqual(["ops open b critical"]);
});

test("in the grace after a start nothing new opens, what is open stays, and then it opens", () => {
  const all = new Rehearsal();
  for (let i = 0; i < 5; i++) expect(all.pass([finding("a")], { inGrace: true })).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops open a warning"]);
});

test("a pass that could not see everything ends nothing", () => {
  const all = new Rehearsal();
  all.pass([finding("a"), finding("b")]);
  all.pass([finding("a"), finding("b")]);
  for (let i = 0; i < 200; i++) expect(all.pass([], { complete: false })).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops resolved b warning"]);
});

test("it gets worse: told again, once; it gets better again: nothing", () => {
  const all = new Rehearsal();
  const worse = finding("a", { severity: "critical" });
  all.pass([finding("a")]);
  all.pass([finding("a")]);
  expect(all.pass([worse])).toEqual(["ops raised a critical"]);
  expect(all.pass([finding("a")])).toEqual([]);
  expect(all.pass([worse])).toEqual([]);
});

describe("routes", () => {
  const routes: BookContext["routes"] = [
    { match: { severity: ["critical"] }, channels: ["pager", "ops"], fallback: [] },
    { match: { job: ["payroll/*"], rule: ["late-*"] }, channels: ["payroll"], fallback: ["ops", "payroll"] },
    { match: {}, channels: ["ops"], fallback: [] },
  ];

  test("the first that fits counts; those who were told are told of the end, and nobody else", () => {
    const all = new Rehearsal();
    all.context = { routes };
    const seen = [finding("a", { job: "payroll/bonus" }), finding("b"), finding("c", { job: "payroll" })];
    all.pass(seen);
    expect(all.pass(seen)).toEqual(["payroll open a warning", "ops open b warning", "ops open c warning"]);
    expect(all.pass([{ ...seen[0]!, severity: "critical" }, ...seen.slice(1)])).toEqual([
      "pager raised a critical",
      "ops raised a critical",
    ]);
    all.pass(seen.slice(1));
    expect(all.pass(seen.slice(1))).toEqual([
      "payroll resolved a critical",
      "pager resolved a critical",
      "ops resolved a critical",
    ]);
  });

  test("a channel is not its own fallback", () => {
    const { messages } = advanceBook(new Map(), [finding("a", { job: "payroll/bonus" })], {
      ...{ now: new Date(start), complete: true, inGrace: false, clearAfterMs: 1, routes },
      rules: { "late-start": { enabled: true, forMs: 0 } },
      quiet: () => null,
    });
    expect(messages).toMatchObject([{ channel: "payroll", fallback: ["ops"] }]);
  });
});

describe("escalation", () => {
  const routes: BookContext["routes"] = [
    { match: {}, channels: ["ops"], fallback: [], escalation: { afterMs: 2 * minuteMs, to: ["boss"] } },
  ];
  const untilEscalated = (all: Rehearsal) => {
    const said: string[] = [];
    for (let i = 0; i < 12; i++) said.push(...all.pass([finding("a")]));
    return said;
  };

  test("nobody acknowledges: the next is told, once, and of the end as well", () => {
    const all = new Rehearsal();
    all.context = { routes };
    expect(untilEscalated(all)).toEqual(["ops open a warning", "boss escalated a warning"]);
    all.pass([]);
    expect(all.pass([])).toEqual(["ops resolved a warning", "boss resolved a warning"]);
  });

  test("somebody acknowledges: nobody else is told", () => {
    const all = new Rehearsal();
    all.context = { routes };
    all.pass([finding("a")]);
    all.pass([finding("a")]);
    all.acknowledge("a");
    expect(untilEscalated(all)).toEqual([]);
  });
});

describe("quiet times", () => {
  const silence = (minutes: number): Silence => ({
    match: { job: ["payroll/*"] },
    until: new Date(start + minutes * minuteMs),
    reason: "known",
    by: "sam",
  });
  const payroll = finding("a", { job: "payroll/bonus" });

  test("a silence holds back what fits until it ends; what is still open is told then", () => {
    const all = new Rehearsal();
    all.silences = [silence(10)];
    const said: [number, string][] = [];
    for (let i = 0; i < 30; i++) {
      const at = (all.nowMs - start) / minuteMs;
      for (const text of all.pass([payroll, finding("b")])) said.push([at, text]);
    }
    expect(said).toEqual([
      [0.5, "ops open b warning"],
      [10, "ops open a warning"],
    ]);
  });

  test("what opened and ended under a silence is told to nobody", () => {
    const all = new Rehearsal();
    all.silences = [silence(10)];
    for (let i = 0; i < 5; i++) expect(all.pass([payroll])).toEqual([]);
    expect(all.book.get("a")?.quiet).toMatch(/silenced by sam until 2026-07-01T00:10:00.000Z: known/);
    for (let i = 0; i < 30; i++) expect(all.pass([])).toEqual([]);
  });

  test("the end of what was told before is told, silence or not", () => {
    const all = new Rehearsal();
    all.pass([payroll]);
    all.pass([payroll]);
    all.silences = [silence(600)];
    all.pass([]);
    expect(all.pass([])).toEqual(["ops resolved a warning"]);
  });

  // 2026-03-29 is the night in which Berlin's clocks jump from 02:00 to 03:00: 01:30 is 00:30Z, and 90 minutes are 90 minutes.
  test.each([
    ["2026-03-28T00:29:59Z", false],
    ["2026-03-28T00:30:00Z", true],
    ["2026-03-28T01:59:59Z", true],
    ["2026-03-28T02:00:00Z", false],
    ["2026-03-29T00:30:00Z", true],
    ["2026-03-29T01:59:59Z", true],
    ["2026-03-29T02:00:00Z", false],
    ["2026-07-01T00:30:00Z", true],
    ["2026-06-30T23:29:59Z", false],
    ["2026-06-30T23:30:00Z", true],
  ])("a maintenance window of 01:30 in Berlin for 90 minutes, at %s: %s", (at, quiet) => {
    const windows = new QuietTimes([
      {
        kind: "repeated",
        match: {},
        cron: "30 1 * * *",
        zone: "Europe/Berlin",
        durationMs: 90 * minuteMs,
        reason: "backup",
      },
    ]);
    const answer = windows.reason({ key: "a", rule: "r", severity: "info" }, [], new Date(at));
    expect(answer).toBe(quiet ? "maintenance: backup" : null);
  });

  test("a single window holds from its begin up to its end, for what fits alone", () => {
    const windows = new QuietTimes([
      {
        kind: "single",
        match: { rule: ["no-*"] },
        from: new Date("2026-07-01T00:00:00Z"),
        to: new Date("2026-07-01T01:00:00Z"),
        reason: "move",
      },
    ]);
    const at = (rule: string, text: string) =>
      windows.reason({ key: "k", rule, severity: "info" }, [], new Date(text));
    expect(at("no-leader", "2026-06-30T23:59:59.999Z")).toBeNull();
    expect(at("no-leader", "2026-07-01T00:00:00Z")).toBe("maintenance: move");
    expect(at("late-start", "2026-07-01T00:00:00Z")).toBeNull();
    expect(at("no-leader", "2026-07-01T01:00:00Z")).toBeNull();
  });
});

describe("one cause", () => {
  const leader = finding("no-leader", {
    rule: "no-leader",
    severity: "critical",
    cause: "no-leader",
    message: "Nobody leads.",
  });
  const missing = (n: number) =>
    finding(`missing-${n}`, { rule: "missing-success", job: `payroll/j${n}`, cause: "no-leader" });

  test("five hundred findings with one cause are one alert, in the words of the cause", () => {
    const all = new Rehearsal();
    const seen = [...Array.from({ length: 500 }, (_, n) => missing(n)), leader];
    all.pass(seen);
    expect(all.pass(seen)).toEqual(["ops open cause:no-leader critical"]);
    const group = all.book.get("cause:no-leader")!;
    expect(group.rule).toBe("no-leader");
    expect(group.message).toBe("Nobody leads. Together with it: 500 × missing-success.");
    expect(group.evidence).toMatchObject({ findings: 501 });
    expect((group.evidence.members as unknown[]).length).toBe(20);
    all.pass([]);
    expect(all.pass([])).toEqual(["ops resolved cause:no-leader critical"]);
  });

  test("a group that grows is no news", () => {
    const all = new Rehearsal();
    all.pass([leader]);
    expect(all.pass([leader])).toEqual(["ops open cause:no-leader critical"]);
    for (let n = 1; n < 30; n++)
      expect(all.pass([leader, ...Array.from({ length: n }, (_, i) => missing(i))])).toEqual([]);
  });

  test("what was open before the cause was known goes on without a word, and ends by itself", () => {
    const all = new Rehearsal();
    const { cause: _, ...alone } = missing(1);
    all.pass([alone]);
    expect(all.pass([alone])).toEqual(["ops open missing-1 warning"]);
    all.pass([leader, missing(1)]);
    expect(all.pass([leader, missing(1)])).toEqual(["ops open cause:no-leader critical"]);
    for (let i = 0; i < 5; i++) expect(all.pass([leader, missing(1)])).toEqual([]);
    expect(all.pass([alone])).toEqual([]);
    expect(all.pass([alone])).toEqual(["ops resolved cause:no-leader critical"]);
    all.pass([]);
    expect(all.pass([])).toEqual(["ops resolved missing-1 warning"]);
  });
});

test("what others have noted alerts at once", () => {
  const all = new Rehearsal();
  expect(all.pass([finding("a", { noted: true })])).toEqual(["ops open a warning"]);
  expect(all.book.get("a")?.watched).toBe(false);
});
