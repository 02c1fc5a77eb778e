/** Silences and maintenance windows: nobody is told, and nothing is forgotten. */
import { describe, expect, test } from "vitest";
import { QuietTimes, type Silence } from "../../src/watchman/quiet.ts";
import { BookRehearsal, finding, minuteMs, start } from "./book-rehearsal.ts";

describe("quiet times", () => {
  const silence = (minutes: number): Silence => ({
    match: { job: ["payroll/*"] },
    until: new Date(start + minutes * minuteMs),
    reason: "known",
    by: "sam",
  });
  const payroll = finding("a", { job: "payroll/bonus" });

  test("a silence holds back what fits until it ends; what is still open is told then", () => {
    const all = new BookRehearsal();
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
    const all = new BookRehearsal();
    all.silences = [silence(10)];
    for (let i = 0; i < 5; i++) expect(all.pass([payroll])).toEqual([]);
    expect(all.book.get("a")?.quiet).toMatch(/silenced by sam until 2026-07-01T00:10:00.000Z: known/);
    for (let i = 0; i < 30; i++) expect(all.pass([])).toEqual([]);
  });

  test("the end of what was told before is told, silence or not", () => {
    const all = new BookRehearsal();
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
