/** The start-up grace: by the store's word, and by our own clock until that has spoken. */
import { expect, test } from "vitest";
import { StartUpGrace } from "../../src/watchman/start-up-grace.ts";

const minuteMs = 60_000;
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 2, 3) + minutes * minuteMs);

/** @param noted minutes at which the store says that the grace ends */
function graceOf(noted?: number): { grace: StartUpGrace; wait: (minutes: number) => void } {
  let elapsedMs = 0;
  const grace = new StartUpGrace(2 * minuteMs, () => elapsedMs);
  if (noted !== undefined) grace.note(at(noted));
  return {
    grace,
    wait: (minutes) => {
      elapsedMs += minutes * minuteMs;
    },
  };
}

test.each([
  ["before its end", 2, 0, true],
  ["at its end", 2, 2, false],
  ["after its end", 2, 3, false],
  ["of a start that the store calls no new one", -60, 0, false],
  ["that ends further away than it is long: the clock went back", 62, 0, false],
])("by the store's word, %s", (_, noted, now, isOn) => {
  const { grace, wait } = graceOf(noted);
  expect(grace.isNoted).toBe(true);
  expect(grace.isOn(at(now))).toBe(isOn);
  wait(1_000);
  expect(grace.isOn(at(now))).toBe(isOn);
});

test("a clock that went back does not let a grace begin anew", () => {
  const { grace } = graceOf(62);
  expect([0, 61, 62].map((minutes) => grace.isOn(at(minutes)))).toEqual([false, false, false]);
});

test("until the store has spoken it counts from the start of the process, whatever the time is", () => {
  const { grace, wait } = graceOf();
  expect(grace.isNoted).toBe(false);
  expect(grace.isOn(at(500))).toBe(true);
  wait(2);
  expect(grace.isOn(at(500))).toBe(false);
});
