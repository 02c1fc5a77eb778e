/** Passes that the calendar of a timetable lets grow too old for the checklist. */
import { describe, expect, test } from "vitest";
import { findingClasses } from "../../../src/chaos/checkers/finding.ts";
import { agedClasses, passCountsMs } from "../../../src/chaos/plan/timetable-age.ts";
import { defaultEvidenceAges } from "../../../src/checklist/context.ts";
import type { DrillScheduleDefinition } from "../../../src/spec/drill-schedule-definition.ts";
import { loadDrills } from "../../../src/spec/resolve-drill.ts";
import { loadDrillSchedule } from "../../../src/spec/resolve-drill-schedule.ts";

const { schedule } = await loadDrillSchedule("chaos/weekly.yaml");
const { drills: list } = await loadDrills(["chaos"], Object.keys(findingClasses));
const drills = new Map(list.map((one) => [one.definition.name, one]));
const open = { ...schedule!, peakDays: [], freezes: [] };
const now = new Date("2026-06-01T00:00:00Z");
const dayMs = 86_400_000;

const days = (of: DrillScheduleDefinition) =>
  agedClasses(of, drills, now).map(({ class: name, from, to }) => [
    name,
    from.toISOString().slice(0, 10),
    to?.toISOString().slice(0, 10),
  ]);
const freeze = (from: string, to: string) => ({
  ...open,
  freezes: [{ from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z`, reason: "release" }],
});

test("a pass counts for as long as the checklist says", () => {
  expect(passCountsMs).toBe(defaultEvidenceAges.drill);
});

describe("a timetable", () => {
  test("that leaves nothing out keeps every class fresh", () => {
    expect(days(open)).toEqual([]);
  });

  test("with a week without drills has each class too old for six days", () => {
    const aged = agedClasses(freeze("2026-06-15", "2026-06-22"), drills, now);
    expect(aged.map((one) => one.class).sort()).toEqual([
      ...["clock-skewed", "executor-killed", "network-cut", "primary-stopped"],
    ]);
    for (const { from, to } of aged) expect(to!.getTime() - from.getTime()).toBe(6 * dayMs);
    expect(aged.map(({ from }) => from.getTime())).toEqual(
      aged.map(({ from }) => from.getTime()).sort((a, b) => a - b),
    );
  });

  test("with a month end has those whose day it closes, every month", () => {
    const aged = days({ ...open, peakDays: schedule!.peakDays });
    const months = new Set(aged.map(([, from]) => from!.slice(0, 7)));
    expect(months.size).toBeGreaterThanOrEqual(2);
  });

  test("frozen now and for good: from now on, without an end", () => {
    const frozen = freeze("2026-01-01", "2199-01-01");
    expect(days(frozen)).toEqual(
      schedule!.drills
        .map((one) => one.class)
        .filter((name) => name !== "executor-paused")
        .sort((a, b) => order.indexOf(a) - order.indexOf(b))
        .map((name) => [name, "2026-06-01", undefined]),
    );
  });
});

const order = ["executor-killed", "network-cut", "clock-skewed", "primary-stopped"];
