/** The book of alerts: when one opens, gets worse, is escalated, and is over. */
import { describe, expect, test } from "vitest";
import { advanceBook, type BookContext } from "../../src/watchman/alert-book.ts";
import { BookRehearsal, finding, minuteMs, start } from "./book-rehearsal.ts";

test("it opens when seen twice, is told once however long it lasts, and ends when it was not seen in two passes", () => {
  const all = new BookRehearsal();
  expect(all.pass([finding("a")])).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops open a warning"]);
  for (let i = 0; i < 20; i++) expect(all.pass([finding("a")])).toEqual([]);
  expect(all.pass([])).toEqual([]);
  expect(all.pass([])).toEqual(["ops resolved a warning"]);
  expect(all.pass([])).toEqual([]);
});

test("what is seen once and then gone was nothing; a gap of one pass ends nothing", () => {
  const all = new BookRehearsal();
  all.pass([finding("a")]);
  expect(all.pass([])).toEqual([]);
  expect(all.book.size).toBe(0);
  all.pass([finding("b")]);
  all.pass([finding("b")]);
  all.pass([]);
  expect(all.pass([finding("b")])).toEqual([]);
});

test("trouble that comes back is told again, as a new episode with other ids", () => {
  const all = new BookRehearsal();
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
  const all = new BookRehearsal();
  all.pass([finding("a"), finding("a")]);
  expect(all.pass([finding("a"), finding("a", { severity: "critical" })])).toEqual(["ops open a warning"]);
});

test("a rule with its own time must hold that long; with 0 it alerts at once", () => {
  const all = new BookRehearsal();
  all.context = {
    rules: { "late-start": { enabled: true, forMs: 2 * minuteMs }, "no-leader": { enabled: true, forMs: 0 } },
  };
  const fast = finding("b", { rule: "no-leader" });
  expect(all.pass([finding("a"), fast])).toEqual(["ops open b warning"]);
  for (let i = 0; i < 3; i++) expect(all.pass([finding("a"), fast])).toEqual([]);
  expect(all.pass([finding("a"), fast])).toEqual(["ops open a warning"]);
});

test("a rule that is off says nothing; one with another severity says it with that", () => {
  const all = new BookRehearsal();
  all.context = {
    rules: { "late-start": { enabled: false }, "few-rows": { enabled: true, severity: "critical" } },
  };
  const seen = [finding("a"), finding("b", { rule: "few-rows" })];
  all.pass(seen);
  expect(all.pass(seen)).toEqual(["ops open b critical"]);
});

test("in the grace after a start nothing new opens, what is open stays, and then it opens", () => {
  const all = new BookRehearsal();
  for (let i = 0; i < 5; i++) expect(all.pass([finding("a")], { inGrace: true })).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops open a warning"]);
});

test("a pass that could not see everything ends nothing", () => {
  const all = new BookRehearsal();
  all.pass([finding("a"), finding("b")]);
  all.pass([finding("a"), finding("b")]);
  for (let i = 0; i < 200; i++) expect(all.pass([], { complete: false })).toEqual([]);
  expect(all.pass([finding("a")])).toEqual(["ops resolved b warning"]);
});

test("it gets worse: told again, once; it gets better again: nothing", () => {
  const all = new BookRehearsal();
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
    const all = new BookRehearsal();
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
  const untilEscalated = (all: BookRehearsal) => {
    const said: string[] = [];
    for (let i = 0; i < 12; i++) said.push(...all.pass([finding("a")]));
    return said;
  };

  test("nobody acknowledges: the next is told, once, and of the end as well", () => {
    const all = new BookRehearsal();
    all.context = { routes };
    expect(untilEscalated(all)).toEqual(["ops open a warning", "boss escalated a warning"]);
    all.pass([]);
    expect(all.pass([])).toEqual(["ops resolved a warning", "boss resolved a warning"]);
  });

  test("somebody acknowledges: nobody else is told", () => {
    const all = new BookRehearsal();
    all.context = { routes };
    all.pass([finding("a")]);
    all.pass([finding("a")]);
    all.acknowledge("a");
    expect(untilEscalated(all)).toEqual([]);
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
    const all = new BookRehearsal();
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
    const all = new BookRehearsal();
    all.pass([leader]);
    expect(all.pass([leader])).toEqual(["ops open cause:no-leader critical"]);
    for (let n = 1; n < 30; n++)
      expect(all.pass([leader, ...Array.from({ length: n }, (_, i) => missing(i))])).toEqual([]);
  });

  test("what was open before the cause was known goes on without a word, and ends by itself", () => {
    const all = new BookRehearsal();
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
  const all = new BookRehearsal();
  expect(all.pass([finding("a", { noted: true })])).toEqual(["ops open a warning"]);
  expect(all.book.get("a")?.watched).toBe(false);
});

test("a database clock that goes back by an hour delays neither an alert, nor its end, nor its escalation", () => {
  const all = new BookRehearsal();
  const route = { match: {}, channels: ["ops"], fallback: [] };
  all.context = { routes: [{ ...route, escalation: { afterMs: minuteMs, to: ["boss"] } }] };
  all.pass([finding("open")]);
  all.pass([finding("open"), finding("pending")]);
  all.nowMs -= 60 * minuteMs;
  expect(all.pass([finding("open"), finding("pending")])).toEqual([]);
  expect(all.pass([finding("open"), finding("pending")])).toEqual(["ops open pending warning"]);
  expect(all.pass([finding("open"), finding("pending")])).toEqual(["boss escalated open warning"]);
  all.pass([]);
  expect(all.pass([]).sort()).toEqual([
    "boss resolved open warning",
    "ops resolved open warning",
    "ops resolved pending warning",
  ]);
  // What was gone the moment the clock went back ends as well.
  all.pass([finding("late")]);
  all.pass([finding("late")]);
  all.nowMs -= 60 * minuteMs;
  all.pass([]);
  all.pass([]);
  expect(all.pass([])).toEqual(["ops resolved late warning"]);
});
