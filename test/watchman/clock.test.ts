/** The sampler, the detection of steps, and what chrony is asked. */
import { expect, test } from "vitest";
import { askTimeSource, type TimeSource } from "../../src/hardware/own-time-source.ts";
import { keepTimeSource } from "../../src/hardware/time-source-loop.ts";
import type { Queryable } from "../../src/store/database.ts";
import { sampleClock } from "../../src/watchman/clock/sampler.ts";
import { detectSteps } from "../../src/watchman/clock/step-detection.ts";
import { readTimeService } from "../../src/watchman/clock/time-service.ts";

/** A database `offMs` behind this wall clock, whose answers take as long as the list says, all of it on the way back. */
function storeBehind(offMs: number, tripsMs: readonly number[]) {
  let wall = 1_800_000_000_000;
  let trip = 0;
  const db = {
    query: async () => {
      const now = new Date(wall - offMs);
      wall += tripsMs[trip++]!;
      return { rows: [{ now }], rowCount: 1 };
    },
  } as unknown as Queryable;
  return { db, clocks: { wallMs: () => wall, monotonicMs: () => wall - 1_799_999_000_000 } };
}

test("the fastest answer counts, and the offset is right within its error", async () => {
  const { db, clocks } = storeBehind(2_000, [400, 20, 900]);
  const sampling = await sampleClock(db, 3, clocks);
  expect(sampling.roundTripMs).toBe(20);
  expect(Math.abs(sampling.offsetMs - 2_000)).toBeLessThanOrEqual(sampling.errorMs);
  expect(sampling.errorMs).toBe(11);
});

const calm = {
  offsetMs: 0,
  errorMs: 5,
  roundTripMs: 8,
  storeMinusMonotonicMs: 1_000,
  wallMinusMonotonicMs: 1_000,
};

test.each([
  ["nothing", {}, []],
  ["slewing", { wallMinusMonotonicMs: 1_300 }, []],
  ["the database", { storeMinusMonotonicMs: 61_000 }, [{ part: "store", offsetMs: 60_000 }]],
  ["this host", { wallMinusMonotonicMs: -59_000 }, [{ part: "watchman", offsetMs: -60_000 }]],
  ["a host that slept", { storeMinusMonotonicMs: 901_000, wallMinusMonotonicMs: 901_000 }, []],
])("what has stepped: %s", (_, change, steps) => {
  expect(detectSteps(calm, { ...calm, ...change })).toEqual(steps);
});

const tracking = (leap: string) =>
  `C0A80001,192.168.0.1,3,1782000000.1,0.000012,0.00001,0.00002,1.5,0.001,0.02,0.01,0.002,64.2,${leap}\n`;
const source = (state: string, name: string, reach: string) =>
  `^,${state},${name},2,6,${reach},12,0.0001,0.0001,0.001\n`;

test.each([
  [
    "well",
    tracking("Normal"),
    source("*", "a", "377") + source("+", "b", "377") + source("+", "c", "377"),
    [],
  ],
  ["one source", tracking("Normal"), source("*", "a", "377"), [/1 source/]],
  [
    "a liar",
    tracking("Normal"),
    source("*", "a", "377") + source("+", "b", "377") + source("+", "c", "377") + source("x", "d", "377"),
    [/^d: /],
  ],
  ["no answer", "506 Cannot talk to daemon\n", "", [/does not answer/]],
  ["none reachable", tracking("Not synchronised"), source("?", "a", "0"), [/not synchronised/, /no source/]],
])("the time service: %s", async (_, track, sources, problems) => {
  const run = async (_command: string, args: readonly string[]) => ({
    text: args.includes("tracking") ? track : args.includes("sources") ? sources : "3,0,0,0,0\n",
    isWhole: true,
  });
  const state = await readTimeService("w", run);
  expect(state?.problems).toHaveLength(problems.length);
  for (const [i, problem] of problems.entries()) expect(state?.problems[i]).toMatch(problem);
});

test("a host without chrony is not called ill", async () => {
  expect(await readTimeService("w", async () => null)).toBeNull();
});

/** One command of a host: what it prints, by the word that tells it from the others. */
const hostSays =
  (track: string, sources: string, conf: string) => async (_: string, args: readonly string[]) => ({
    text: args.includes("tracking") ? track : args.includes("sources") ? sources : conf,
    isWhole: true,
  });

test.each([
  [
    "well",
    hostSays(
      tracking("Normal"),
      source("*", "a", "377") + source("x", "b", "377") + source("?", "c", "0"),
      "leapsecmode slew\n",
    ),
    {
      isSynchronized: true,
      stratum: 3,
      leapPolicy: "slew",
      sources: 3,
      reachable: 2,
      falsetickers: ["b"],
      why: null,
    },
  ],
  [
    "not synchronised",
    hostSays(tracking("Not synchronised"), source("?", "a", "0"), "pool x\n"),
    { isSynchronized: false, offsetSeconds: null, reachable: 0, leapPolicy: "system", why: null },
  ],
  [
    "silent",
    hostSays("506 Cannot talk to daemon\n", "", ""),
    { isSynchronized: null, why: "chronyd does not answer" },
  ],
  [
    "without chrony",
    async () => null,
    { isSynchronized: null, why: "there is no chronyc on this host", wasKnown: false },
  ],
])("what a host says of its own time source: %s", async (_, run, answer) => {
  expect(await askTimeSource(false, run)).toMatchObject(answer);
});

test("the loop writes again soon what could not be written, remembers what was known, and ends", async () => {
  const stop = new AbortController();
  const noted: TimeSource[] = [];
  const answers = [tracking("Normal"), tracking("Normal"), "506 Cannot talk to daemon\n"];
  const run = async (_: string, args: readonly string[]) => ({
    text: args.includes("tracking") ? (answers[Math.min(noted.length, 2)] ?? "") : source("*", "a", "377"),
    isWhole: true,
  });
  const note = async (one: TimeSource) => {
    noted.push(one);
    if (noted.length === 1) throw new Error("the store is away");
    if (noted.length === 4) stop.abort();
    return noted.length > 2;
  };
  await keepTimeSource({ note, signal: stop.signal, run, everyMs: 1, retryMs: 1 });
  expect(noted.map(({ why, wasKnown }) => [why, wasKnown])).toEqual([
    [null, true],
    [null, true],
    ["chronyd does not answer", true],
    ["chronyd does not answer", true],
  ]);
});
