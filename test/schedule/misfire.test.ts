import { describe, expect, it } from "vitest";
import { decideMisfires, type MisfireQuestion } from "../../src/schedule/misfire.ts";

const minute = 60_000;
const nowMs = Date.UTC(2026, 6, 1, 12, 0);
const ago = (minutes: number) => nowMs - minutes * minute;

function ask(question: Partial<MisfireQuestion>) {
  return decideMisfires({
    policy: "run-now",
    thresholdMs: minute,
    catchUp: { maxFires: 2, keep: "oldest" },
    lateFiresMs: [ago(180), ago(120), ago(60), ago(1)],
    nowMs,
    alreadyCatchingUp: 0,
    ...question,
  });
}
const runs = (question: Partial<MisfireQuestion>) =>
  ask(question)
    .filter((answer) => answer.decision === "run")
    .map((answer) => (nowMs - answer.fireMs) / minute);

describe("decideMisfires", () => {
  it("answers for every fire, in order, with a reason for each that is misfired", () => {
    const question = [180, 120, 60, 1].map(ago);
    for (const policy of ["run-now", "skip", "within-window"] as const) {
      const answers = ask({ policy, windowMs: 90 * minute });
      expect(answers.map((answer) => answer.fireMs)).toEqual(question);
      expect(answers.filter((answer) => answer.misfired && answer.reason === undefined)).toEqual([]);
      expect(answers.at(-1)).toEqual({ fireMs: ago(1), decision: "run", misfired: false, lateMs: minute });
    }
  });

  it("run-now keeps the oldest or the newest, always ascending", () => {
    expect(runs({})).toEqual([180, 120, 1]);
    expect(runs({ catchUp: { maxFires: 2, keep: "newest" } })).toEqual([120, 60, 1]);
    expect(runs({ catchUp: { maxFires: 9, keep: "newest" } })).toEqual([180, 120, 60, 1]);
    expect(runs({ catchUp: { maxFires: 0, keep: "newest" } })).toEqual([1]);
    expect(runs({ catchUp: { maxFires: 0, keep: "oldest" } })).toEqual([1]);
  });

  it("what is already being caught up counts against the cap", () => {
    expect(runs({ alreadyCatchingUp: 1 })).toEqual([180, 1]);
    expect(runs({ alreadyCatchingUp: 1, catchUp: { maxFires: 2, keep: "newest" } })).toEqual([60, 1]);
    expect(runs({ alreadyCatchingUp: 5 })).toEqual([1]);
  });

  it("skip runs nothing that is later than the threshold", () => {
    expect(runs({ policy: "skip" })).toEqual([1]);
  });

  it("within-window runs what is at most that late, still capped", () => {
    expect(runs({ policy: "within-window", windowMs: 120 * minute })).toEqual([120, 60, 1]);
    expect(runs({ policy: "within-window", windowMs: 120 * minute - 1 })).toEqual([60, 1]);
    expect(runs({ policy: "within-window", windowMs: 120 * minute, alreadyCatchingUp: 1 })).toEqual([120, 1]);
  });

  it("says how late, and which rule", () => {
    const reasons = (question: Partial<MisfireQuestion>) => ask(question).map((answer) => answer.reason);
    expect(reasons({ catchUp: { maxFires: 2, keep: "newest" }, alreadyCatchingUp: 1 })).toEqual([
      "3h late; catch-up is capped at 2 fires, 1 of them already under way, newest kept",
      "2h late; catch-up is capped at 2 fires, 1 of them already under way, newest kept",
      "1h late; caught up",
      undefined,
    ]);
    expect(reasons({ policy: "skip" })[0]).toBe("3h late; the misfire policy is skip");
    expect(reasons({ policy: "within-window", windowMs: 150 * minute })[0]).toBe(
      "3h late; the misfire window is 2h30m",
    );
  });

  it("refuses within-window without a window", () => {
    expect(() => ask({ policy: "within-window" })).toThrow(/without a window/);
  });
});
