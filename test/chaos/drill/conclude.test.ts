/** From what was seen to the verdict. */
import { describe, expect, it } from "vitest";
import type { Verdict } from "../../../src/chaos/checker.ts";
import { type ConclusionQuestion, conclude, offsetAfterMs } from "../../../src/chaos/drill/conclude.ts";
import { variantOf } from "./drill-scene.ts";

const rules = { allowedFailures: [], refusedStaleWrites: 0, culpritNamed: false, takeoverWithinMs: 30_000 };
const variant = variantOf({
  name: "crash",
  target: { role: "scheduler-leader" },
  fault: { kind: "kill", restart: "suppressed" },
  proof: [{ see: "leader-moved", from: "records" }],
  pass: rules,
});
const judged = {
  ...{ outcome: "pass", findings: [], counts: {}, unknown: [] },
  figures: { shardsDue: 8, obligationsInFault: 6, attemptsHit: 0 },
} as unknown as Verdict;

const clean: ConclusionQuestion = {
  variant,
  measures: {
    ...{ takeoverMs: 1_200, restartedMs: null, offsetAfterMs: null, culprits: [], staleWritesRefused: 0 },
  },
  judged,
  audits: [{ host: "sched-1", residue: [], unseen: [] }],
  restored: true,
  unproven: [],
  inEffect: true,
  guilty: ["sched-1"],
  doubts: [],
};

const nobody = { ...clean.measures, takeoverMs: null };

describe("a conclusion", () => {
  it("passes when all was seen and nothing is wrong", () => {
    expect(conclude(clean)).toMatchObject({ verdict: "pass", failures: [], unknown: [] });
  });

  it("is unknown when a proof is missing", () => {
    const unproven = ["address-moved by another-host"];
    expect(conclude({ ...clean, unproven })).toMatchObject({
      verdict: "unknown",
      failures: [],
      reason: "not proven: address-moved by another-host",
    });
  });

  it("fails when the leader went and nobody followed", () => {
    const unproven = ["leader-moved by records"];
    const { verdict, failures } = conclude({ ...clean, unproven, measures: nobody });
    expect(verdict).toBe("fail");
    expect(failures).toEqual([{ class: "takeover-late", detail: "the takeover was not seen at all" }]);
  });

  it("does not speak of a takeover where nobody saw the fault", () => {
    const unproven = ["leader-moved by records"];
    expect(conclude({ ...clean, unproven, measures: nobody, inEffect: false })).toMatchObject({
      verdict: "unknown",
      failures: [],
    });
  });

  it("fails when the host never said that it is restored, whatever else was seen", () => {
    expect(conclude({ ...clean, restored: false })).toMatchObject({
      verdict: "fail",
      failures: [{ class: "not-restored", detail: expect.any(String) }],
    });
  });

  it("fails for what was left behind, and is unknown for what could not be looked at", () => {
    const residue = [{ what: "table", detail: "inet escapement_drill" }];
    expect(conclude({ ...clean, audits: [{ host: "sched-1", residue, unseen: [] }] })).toMatchObject({
      verdict: "fail",
      failures: [{ class: "residue", detail: "sched-1: table: inet escapement_drill" }],
    });
    expect(
      conclude({ ...clean, audits: [{ host: "sched-1", residue: [], unseen: ["disk"] }] }),
    ).toMatchObject({ verdict: "unknown", failures: [] });
  });

  it("is unknown when nobody looked for what is left", () => {
    expect(conclude({ ...clean, audits: [] })).toMatchObject({
      verdict: "unknown",
      unknown: ["no host was audited"],
    });
  });
});

describe("the target's clock after the restore", () => {
  const seen = { atMs: 5_000, offsetMs: -340, uncertaintyMs: 40 };

  it("is off by what it was seen to be, but for what the look may be wrong by", () => {
    expect(offsetAfterMs(seen, 4_000)).toBe(-300);
    expect(offsetAfterMs({ ...seen, offsetMs: 30 }, 4_000)).toBe(0);
  });

  it.each([
    ["the last look is from before it", seen, 6_000],
    ["it was never looked at", undefined, 4_000],
    ["nobody knows when it was restored", seen, null],
  ])("was not seen when %s", (_, last, restoredAtMs) => {
    expect(offsetAfterMs(last, restoredAtMs)).toBeNull();
  });
});
