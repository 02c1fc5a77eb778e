import { expect, test } from "vitest";
import { judge, worstOutcome } from "../../src/chaos/checker.ts";
import { type FindingClass, findingClasses } from "../../src/chaos/checkers/finding.ts";
import { type History, parseHistory } from "../../src/chaos/history.ts";
import { correctHistory, isoAt } from "./history-generator.ts";
import { plantedFaults } from "./planted/index.ts";
import { SeededRandom, seedFrom } from "./seeded-random.ts";

const seed = seedFrom("CHECKER_SEED");
console.log(`checker tests: CHECKER_SEED=${seed}`);
/** How often a way is planted, so that each class comes to 100 or more. */
const timesFor = (name: FindingClass) =>
  Math.ceil(100 / plantedFaults.filter((fault) => fault.class === name).length);

test("1,000 random correct histories pass", () => {
  let repeats = 0;
  let refused = 0;
  let excused = 0;
  for (let i = 0; i < 1_000; i++) {
    const verdict = judge(correctHistory(new SeededRandom(seed + i)));
    expect(verdict, `history seed ${seed + i}`).toMatchObject({ outcome: "pass", findings: [], unknown: [] });
    repeats += verdict.figures.repeats;
    refused += verdict.figures.staleRefused;
    excused += verdict.figures.overlapsExcused;
  }
  // The accepted histories were not trivial ones.
  expect(Math.min(repeats, refused, excused)).toBeGreaterThan(100);
});

for (const { class: planted, way, plant } of plantedFaults) {
  test(`finds ${planted}: ${way}`, () => {
    const times = timesFor(planted);
    let found = 0;
    for (let i = 0; found < times; i++) {
      if (i > times * 200) throw new Error(`only ${found} histories offered a place`);
      const random = new SeededRandom(seed + 7_919 * i);
      const history = correctHistory(random);
      if (!plant(history, random)) continue;
      const verdict = judge(parseHistory(history));
      const classes = (Object.keys(verdict.counts) as FindingClass[]).filter(
        (name) => verdict.counts[name] > 0,
      );
      expect({ outcome: verdict.outcome, classes }, `history seed ${seed + 7_919 * i}`).toEqual({
        outcome: "fail",
        classes: [planted],
      });
      found++;
    }
  });
}

test("every class is planted", () => {
  expect(new Set(plantedFaults.map((fault) => fault.class))).toEqual(new Set(Object.keys(findingClasses)));
});

const emptied: [reason: RegExp, change: (history: History) => void][] = [
  [/nothing was obliged/, (h) => Object.assign(h, emptyLists)],
  [
    /saw no effect/,
    (h) =>
      Object.assign(h, emptyLists, {
        obligations: [{ ...h.obligations[0]!, allowed: "at-most-one" }],
        executions: undefined,
      }),
  ],
  [/not come to rest/, (h) => (h.settled = false)],
  [/too close to the final read/, (h) => (h.readAt = h.obligations[0]!.fireTime)],
  [/kind power-cut/, (h) => h.requirements.faultKinds.push("power-cut")],
  [/phase reclaim/, (h) => h.requirements.phases.push("reclaim")],
  [/not proven/, (h) => h.faults.push({ ...h.faults.at(-1)!, proven: false })],
  [/kind store-stop/, (h) => (h.faults = h.faults.filter((fault) => fault.kind !== "store-stop"))],
  [/during a fault/, (h) => (h.requirements.obligationsInFault = 1_000)],
  [/hit by a fault/, (h) => (h.requirements.attemptsHit = 1_000)],
  [/stale write\(s\) were refused/, (h) => (h.requirements.refusals = 1_000)],
];
const emptyLists = {
  obligations: [],
  executions: [],
  attempts: [],
  effects: [],
  refusals: [],
  sightings: [],
};

test.each(emptied)("a clean result is unknown when %s", (reason, change) => {
  for (let i = 0; i < 20; i++) {
    const history = correctHistory(new SeededRandom(seed + i));
    change(history);
    const verdict = judge(history);
    expect(verdict.outcome, `history seed ${seed + i}`).toBe("unknown");
    expect(verdict.unknown.join("\n")).toMatch(reason);
  }
});

test("a violation fails even where a clean result would be unknown", () => {
  const history = correctHistory(new SeededRandom(seed));
  history.settled = false;
  history.effects.push({ ...history.effects[0]!, seq: history.effects[0]!.seq + 0.5 });
  expect(judge(history)).toMatchObject({ outcome: "fail", counts: { duplicate: 1 } });
});

test("before the cluster is at rest nothing is called lost", () => {
  const history = correctHistory(new SeededRandom(seed));
  Object.assign(history, { ...emptyLists, obligations: history.obligations, settled: false });
  expect(judge(history)).toMatchObject({
    outcome: "unknown",
    counts: { lost: 0, partial: 0, interrupted: 0 },
  });
});

test("verdicts combine by the worst: fail, unknown, pass", () => {
  expect(worstOutcome(["pass", "unknown", "fail"])).toBe("fail");
  expect(worstOutcome(["pass", "unknown"])).toBe("unknown");
  expect(worstOutcome(["pass", "pass"])).toBe("pass");
  expect(worstOutcome([])).toBe("unknown");
});

test("judges 200,000 effects, and finds the one that is doubled", () => {
  const history = correctHistory(new SeededRandom(seed), {
    jobs: 20,
    firesPerJob: 450,
    shardCount: 32,
    troubled: 0.02,
  });
  expect(history.effects.length).toBeGreaterThan(200_000);
  expect(judge(history).outcome).toBe("pass");
  // Right behind the first one, so that nothing but the doubling is wrong.
  const chosen = history.effects[123_456]!;
  history.effects.push({ ...chosen, seq: chosen.seq + 0.5 });
  const verdict = judge(history);
  expect(verdict.findings).toHaveLength(1);
  expect(verdict.findings[0]).toMatchObject({
    class: "duplicate",
    job: chosen.job,
    fireTime: chosen.fireTime,
    shardNo: chosen.shardNo,
  });
});

const malformed: [problem: RegExp, change: (history: History) => void][] = [
  [/stated twice/, (h) => h.obligations.push(h.obligations[0]!)],
  [/does not say why/, (h) => (h.obligations[0]!.allowed = "none")],
  [/used twice/, (h) => h.effects.push(h.effects[0]!)],
  [/windowMs/, (h) => (h.obligations[0]!.misfire = { policy: "within-window", graceMs: 0 })],
  [/effects\.0\.fireTime/, (h) => (h.effects[0]!.fireTime = "2026-03-01T00:00:00Z")],
  [/attempts\.0/, (h) => Object.assign(h.attempts[0]!, { colour: "red" })],
  [/obligations/, (h) => Reflect.deleteProperty(h, "obligations")],
];

test.each(malformed)("refuses a malformed history: %s", (problem, change) => {
  const history = structuredClone(correctHistory(new SeededRandom(seed)));
  change(history);
  expect(() => parseHistory(history)).toThrow(problem);
});

test("a history survives JSON", () => {
  const history = correctHistory(new SeededRandom(seed));
  expect(parseHistory(JSON.parse(JSON.stringify(history)))).toEqual(history);
  expect(isoAt(0)).toBe("2026-03-01T00:00:00.000Z");
});
