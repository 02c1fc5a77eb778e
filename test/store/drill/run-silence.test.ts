import { describe, expect, test } from "vitest";
import { busyText, silentForMs } from "../../../src/store/drill/run-silence.ts";

const now = new Date("2026-11-30T12:00:00Z");
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const run = {
  ...{ runId: "0b9d8a52", drill: "cut-network", person: "ann", state: "fault" },
  ...{ startedAt: at(-600), leaseUntil: at(30), endedAt: null },
};

describe("a controller is silent", () => {
  test.each([
    ["not: it renewed just now", {}, null],
    ["not: its store is slow", { leaseUntil: at(25.5) }, null],
    ["for the part of its lease that is over", { leaseUntil: at(10) }, 20_000],
    ["for longer than its lease", { leaseUntil: at(-15) }, 45_000],
    ["for no longer than its run is old", { startedAt: at(-7), leaseUntil: at(5) }, 7_000],
    ["not, as far as a longer lease tells", { leaseUntil: at(300) }, null],
    ["not: the run has ended", { leaseUntil: at(-15), endedAt: at(-20) }, null],
  ])("%s", (_, change, wanted) => {
    expect(silentForMs({ ...run, ...change }, now)).toBe(wanted);
  });
});

test("whoever is kept from beginning learns of it", () => {
  expect(busyText(run, now)).toMatch(
    /^cut-network \(0b9d8a52\) of ann since 2026-11-30T11:50:00.000Z, fault$/,
  );
  expect(busyText({ ...run, leaseUntil: at(10.4) }, now)).toMatch(
    /, fault; nothing was heard of its controller for 19s or longer$/,
  );
});
