import { expect, test } from "vitest";
import { type History, parseHistory } from "../../src/chaos/history.ts";
import { judgeDrill } from "../../src/chaos/judge-drill.ts";
import { repeatedKey } from "../../src/chaos/repeated-key.ts";
import { drilledHistory } from "./drilled-history.ts";
import { isoAt } from "./history-generator.ts";

function judged(change: (history: History) => void) {
  const history = drilledHistory();
  change(history);
  const value: unknown = JSON.parse(JSON.stringify(history));
  return judgeDrill(parseHistory(value), value);
}

function ended(status: "failed" | "blocked" | "missed" | "cancelled") {
  return (history: History) => {
    history.executions = history.executions!.map((one) => ({ ...one, status, reason: "it says so" }));
    for (const one of history.obligations) delete one.misfire;
  };
}

const first = <Item>(list: Item[]): Item => list[0]!;
const early = isoAt(-1_000_000);
const late = isoAt(5_000_000);

const unfounded: [what: string, why: RegExp, change: (history: History) => void][] = [
  ["its executions are an empty list", /holds no executions, and fires/, (h) => (h.executions = [])],
  ["a fire has lost its execution", /has attempts, and no execution/, (h) => h.executions!.pop()],
  ["every execution is called failed", /recorded as failed/, ended("failed")],
  ["every execution is called blocked", /recorded as blocked/, ended("blocked")],
  ["every execution is called missed", /recorded as missed/, ended("missed")],
  ["every execution is called cancelled", /recorded as cancelled/, ended("cancelled")],
  [
    "what came due in the fault was cancelled",
    /0 fire\(s\) came due during a fault/,
    (h) => {
      const kept = first(h.obligations).fireTime;
      for (const one of h.obligations) if (one.fireTime !== kept) one.allowed = "at-most-one";
      for (const one of h.executions!)
        if (one.fireTime !== kept) Object.assign(one, { status: "cancelled", reason: "by hand" });
      for (const name of ["attempts", "effects", "sightings"] as const)
        Object.assign(h, { [name]: h[name].filter(({ fireTime }) => fireTime === kept) });
    },
  ],
  ["a success never started", /succeeded and never started/, (h) => (first(h.attempts).startedAt = null)],
  ["an attempt ended before it started", /before it started/, (h) => (first(h.attempts).endedAt = early)],
  ["an attempt ended after the read", /after the final read/, (h) => (first(h.attempts).endedAt = late)],
  ["a process ended before it began", /ended before it began/, (h) => (first(h.sightings).until = early)],
  ["a process is still alive", /still alive, at rest/, (h) => (first(h.sightings).until = null)],
  ["the fault ended after the read", /after the final read/, (h) => (first(h.faults).until = late)],
  ["the fault ended before it began", /before it began/, (h) => (first(h.faults).until = early)],
  ["more was hit than there is", /hit 1000 attempts/, (h) => (first(h.faults).attemptsHit = 1_000)],
  ["nobody was seen", /whose process nobody saw \(and 23 more/, (h) => (h.sightings = [])],
  ["one process was not seen", /whose process nobody saw$/, (h) => h.sightings.shift()],
  ["no start is late", /how late a start may be/, (h) => (h.limits.lateMs = null)],
  ["hardly a start is late", /limits\.lateMs/, (h) => (h.limits.lateMs = 1e12)],
  [
    "a probe may start whenever it likes",
    /late \(misfire\)/,
    (h) => (first(h.obligations).misfire = { policy: "within-window", graceMs: 0, windowMs: 1e12 }),
  ],
  ["no kind of fault is asked for", /requirements\.faultKinds/, (h) => (h.requirements.faultKinds = [])],
];

test("the history of a run passes", () => {
  expect(judged(() => {})).toMatchObject({ outcome: "pass", findings: [], unknown: [] });
});

test.each(unfounded)("nothing is concluded where %s", (_, why, change) => {
  const { outcome, findings, unknown } = judged(change);
  expect({ outcome, findings }).toEqual({ outcome: "unknown", findings: [] });
  expect(unknown).toContainEqual(expect.stringMatching(why));
});

test("a refusal of a claim that no record knows is an orphan", () => {
  const verdict = judged((history) => {
    const { payload: _, ...claim } = first(history.effects);
    history.refusals.push({ ...claim, attempt: 9, fenceToken: 500, seq: 999, reason: "repeat" });
  });
  expect(verdict).toMatchObject({ outcome: "fail", counts: { orphan: 1 } });
});

const right: [what: string, change: (history: History) => void][] = [
  [
    "the clock of the store was set back by hours while an attempt ran",
    (h) => {
      Object.assign(first(h.faults), { kind: "clock" });
      h.requirements.faultKinds = ["clock"];
      first(h.attempts).endedAt = isoAt(-11 * 3_600_000);
    },
  ],
  ["the host of the fault is a little ahead", (h) => (first(h.faults).until = isoAt(602_000))],
  [
    "somebody else's job was not seen, and failed",
    (h) => {
      const fire = { job: "others/report", fireTime: isoAt(20_000) };
      const times = { startedAt: isoAt(20_000), endedAt: isoAt(21_000) };
      h.obligations.push({
        ...{ ...fire, shardCount: 1, allowed: "at-most-one", mode: "once", recordsOnly: true },
        misfire: { policy: "within-window", graceMs: 60_000, windowMs: 7_200_000 },
      });
      h.executions!.push({ ...fire, status: "failed", trigger: "schedule", reason: "1 shard(s) failed" });
      const claim = { ...fire, shardNo: 0, attempt: 1, fenceToken: 900 };
      h.attempts.push({ ...claim, owner: "exec-2/1", ...times, status: "failed" });
    },
  ],
];

test.each(right)("it still passes where %s", (_, change) => {
  expect(judged(change)).toMatchObject({ outcome: "pass", findings: [], unknown: [] });
});

test.each([
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', undefined],
  ['{"a":"a","b":"\\"a\\":{"}', undefined],
  ['{"a":1,"b":[1,{"c":2}],"a":2}', "a"],
  ['[{"x":{"effects":[],"effects":[1]}}]', "effects"],
  ['{"a":1,"\\u0061":2}', "a"],
])("a key that is repeated: %s", (text, key) => {
  expect(repeatedKey(text)).toBe(key);
});
