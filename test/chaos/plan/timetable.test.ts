/** Drills on a timetable: days and minutes that stay, jobs that our own scheduler takes, days that are left alone. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findingClasses } from "../../../src/chaos/checkers/finding.ts";
import { drillKey, drillSlots, slotCron } from "../../../src/chaos/plan/timetable.ts";
import {
  drillFileVariable,
  timetableJobs,
  timetableProblems,
  timetableVariable,
} from "../../../src/chaos/plan/timetable-jobs.ts";
import { comingDrills } from "../../../src/chaos/plan/timetable-next.ts";
import { closedBecause } from "../../../src/chaos/plan/timetable-window.ts";
import { formatInZone } from "../../../src/schedule/local-text.ts";
import { zoneOf } from "../../../src/schedule/zone.ts";
import type { DrillScheduleDefinition } from "../../../src/spec/drill-schedule-definition.ts";
import { loadDrills, parseDrills } from "../../../src/spec/resolve-drill.ts";
import { loadDrillSchedule, parseDrillSchedule } from "../../../src/spec/resolve-drill-schedule.ts";

const classes = Object.keys(findingClasses);
const file = "chaos/weekly.yaml";
const text = readFileSync(file, "utf8");
const { schedule: loaded, problems } = await loadDrillSchedule(file);
const schedule = loaded!;
const drills = new Map(
  (await loadDrills(["chaos"], classes)).drills.map((one) => [one.definition.name, one]),
);

test("the timetable that comes with the program is right, and has every mandatory class", () => {
  expect(problems).toEqual([]);
  expect(timetableProblems(schedule, drills)).toEqual([]);
  expect(schedule.drills.map((one) => one.class)).toEqual(
    expect.arrayContaining(["executor-killed", "network-cut", "clock-skewed", "primary-stopped"]),
  );
});

describe("slots", () => {
  test("stay the same, and change with the seed", () => {
    expect(drillSlots(schedule).map(slotCron)).toEqual(drillSlots(schedule).map(slotCron));
    expect(drillSlots({ ...schedule, seed: "another" })).not.toEqual(drillSlots(schedule));
  });

  test("a drill added at the end moves none before it", () => {
    const more = [...schedule.drills, { drill: "pause-primary", class: "primary-paused" as const }];
    expect(drillSlots({ ...schedule, drills: more }).slice(0, -1)).toEqual(drillSlots(schedule));
  });

  test("lie in the office hours, end in them, and never meet", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 }),
        fc.integer({ min: 0, max: 1_200 }),
        fc.integer({ min: 5, max: 60 }),
        fc.integer({ min: 1, max: 9 }),
        (seed, weekdays, fromMinute, minutes, count) => {
          const toMinute = Math.min(1_439, fromMinute + minutes * 4);
          const wanted: DrillScheduleDefinition = {
            ...schedule,
            seed,
            officeHours: { weekdays: weekdays as never, fromMinute, toMinute },
            timeoutMs: minutes * 60_000,
            drills: Array.from({ length: count }, (_, i) => ({ drill: `d${i}`, class: "disk-full" })),
          };
          let slots: ReturnType<typeof drillSlots>;
          try {
            slots = drillSlots(wanted);
          } catch {
            // One is always possible where a drill fits at all.
            return toMinute - fromMinute < minutes || count > weekdays.length;
          }
          const week = slots.map(({ weekday, minute }) => weekday * 1_440 + minute).sort((a, b) => a - b);
          return (
            slots.every(
              ({ weekday, minute }) =>
                weekdays.includes(weekday) && minute >= fromMinute && minute + minutes <= toMinute,
            ) && week.every((at, i) => i === 0 || at - week[i - 1]! >= minutes)
          );
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  test("too many for the hours there are: told, not overlapped", () => {
    const short = { ...schedule, officeHours: { weekdays: [1 as const], fromMinute: 600, toMinute: 720 } };
    expect(() => drillSlots(short)).toThrow(/there is no time for .* on 1 day\(s\) between 10:00 and 12:00/);
  });
});

describe("the window", () => {
  const at = (instant: string) => closedBecause(schedule, new Date(instant));

  test.each([
    // 2026-11-19 is a Thursday; Berlin is an hour ahead of UTC.
    ["2026-11-19T09:00:00Z", null],
    ["2026-11-19T08:59:59Z", /^09:59 is outside the office hours, 10:00 to 15:00 Europe\/Berlin$/],
    // The last slot, a little late: an hour is left.
    ["2026-11-19T13:00:59Z", null],
    [
      "2026-11-19T13:01:00Z",
      /^14:01 is too late: a drill may take 1h, and the office hours end at 15:00 Europe\/Berlin$/,
    ],
    ["2026-11-19T14:00:00Z", /^15:00 is outside/],
    ["2026-11-20T10:00:00Z", /^nobody is there on a fri$/],
    // In summer it is two.
    ["2026-07-16T08:00:00Z", null],
    ["2026-07-16T13:00:00Z", /^15:00 is outside/],
    ["2026-12-17T10:00:00Z", null],
    ["2026-12-21T10:00:00Z", /^frozen from 2026-12-18T00:00:00.000Z .*: no changes over the holidays$/],
    // The last day of the month and the first: a day of distance on both sides.
    ["2026-07-29T09:00:00Z", null],
    ["2026-07-30T09:00:00Z", /^less than 1d from 2026-07-31, a peak day: last day of the month$/],
    ["2026-06-30T09:00:00Z", /^less than 1d from 2026-06-30/],
    ["2026-07-01T09:00:00Z", /^less than 1d from 2026-06-30/],
    ["2026-09-02T09:00:00Z", /^less than 1d from 2026-09-01, a peak day: close of the month$/],
    ["2026-09-03T09:00:00Z", null],
    ["2027-02-25T09:00:00Z", null],
    ["2028-02-28T09:00:00Z", /^less than 1d from 2028-02-29/],
  ])("%s", (instant, wanted) => {
    if (wanted === null) expect(at(instant)).toBeNull();
    else expect(at(instant)).toMatch(wanted);
  });

  test("a drill that would still run when a freeze begins does not begin", () => {
    const freezes = [{ from: "2026-11-19T11:00:00.000Z", to: "2026-11-19T12:00:00.000Z", reason: "release" }];
    const frozen = { ...schedule, freezes };
    expect(closedBecause(frozen, new Date("2026-11-19T10:00:00Z"))).toBeNull();
    expect(closedBecause(frozen, new Date("2026-11-19T10:00:01Z"))).toMatch(/release/);
    expect(closedBecause(frozen, new Date("2026-11-19T12:00:00Z"))).toBeNull();
  });

  test("a drill may want to stay further away than its timetable", () => {
    const far = new Date("2026-07-28T09:00:00Z");
    expect(closedBecause(schedule, far)).toBeNull();
    expect(closedBecause(schedule, far, 3 * 86_400_000)).toMatch(/^less than 3d from 2026-07-31/);
  });

  test("days of a zone far from UTC are its own days", () => {
    const tokyo = {
      ...schedule,
      timeZone: "Asia/Tokyo",
      peakDays: [{ kind: "date", date: "2026-11-18", reason: "fair" }] as const,
    };
    // 18 November ends in Tokyo at 15:00 UTC; a day later, 11:00 there, is 02:00 UTC.
    expect(closedBecause(tokyo, new Date("2026-11-19T02:00:00Z"))).toMatch(/2026-11-18/);
    expect(closedBecause(tokyo, new Date("2026-11-17T02:00:00Z"))).toMatch(/2026-11-18/);
    expect(closedBecause(tokyo, new Date("2026-11-16T02:00:00Z"))).toBeNull();
  });
});

test("coming drills are in order, once a week each, and those that are left out say why", () => {
  const fires = comingDrills(schedule, drills, new Date("2026-07-06T00:00:00Z"), 25);
  expect(fires.length).toBe(25);
  const times = fires.map(({ at }) => at.getTime());
  expect(times).toEqual([...times].sort((a, b) => a - b));
  for (const entry of schedule.drills) {
    const own = fires.filter(({ drill }) => drill === drillKey(entry));
    expect(own.length).toBe(5);
    const local = own.map(({ at }) => formatInZone(at.getTime(), zoneOf(schedule.timeZone)).slice(11, 16));
    expect(new Set(local).size).toBe(1);
  }
  const left = fires.filter(({ skipped }) => skipped !== null);
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(fires.length);
});

describe("jobs", () => {
  const texts = { timetable: text, fileOf: (drill: { file: string }) => readFileSync(drill.file, "utf8") };
  const jobs = timetableJobs(schedule, drills, texts);

  test("are those of a control class that change nothing, are not caught up and not repeated", () => {
    for (const { definition } of jobs)
      expect(definition).toMatchObject({
        namespace: "drills",
        resources: { class: "control" },
        effects: [],
        misfire: { policy: "skip" },
        blocking: { policy: "forbid" },
        catchUp: { maxFires: 0 },
        retry: { maxAttempts: 1 },
        timeZone: "Europe/Berlin",
      });
    expect(jobs.map(({ definition }) => definition.name)).toEqual([
      "kill-executor",
      "cut-network",
      "skew-clock",
      "stop-primary-crash",
      "pause-executor",
    ]);
  });

  test("run the drill with the leash off, as scheduled, by the controller's own files", () => {
    expect(jobs[3]!.definition.command).toEqual([
      "/opt/escapement/current/node",
      "/opt/escapement/current/escapement.mjs",
      ...["drill", "run", "stop-primary", "--variant", "crash", "--yes", "--scheduled"],
      ...["--inventory", "/etc/escapement/inventory.yaml", "--cluster", "/etc/escapement/cluster.yaml"],
      ...["--out", "/var/lib/escapement-executor/drills"],
    ]);
  });

  test("carry drill and timetable with them, whole", () => {
    for (const { definition, slot } of jobs) {
      const carried = parseDrills(definition.environment[drillFileVariable]!, "job", classes);
      expect(carried.drills[0]!.digest).toBe(drills.get(slot.entry.drill)!.digest);
      expect(parseDrillSchedule(definition.environment[timetableVariable]!, "job").schedule).toEqual(
        schedule,
      );
    }
  });
});

test("a timetable that names what is not there, or what only people may run", () => {
  const wrong = {
    ...schedule,
    drills: [
      { drill: "kill-exekutor", class: "executor-killed" as const },
      { drill: "kill-executor", class: "network-cut" as const },
      { drill: "stop-primary", variant: "bang", class: "primary-stopped" as const },
      { drill: "kill-store", class: "store-killed" as const },
      { drill: "kill-executor", class: "executor-killed" as const },
    ],
  };
  expect(timetableProblems(wrong, drills)).toEqual([
    expect.stringMatching(/^spec.drills\[0\].drill: there is no drill kill-exekutor/),
    "spec.drills[1].class is network-cut, and drill kill-executor stands for executor-killed",
    expect.stringMatching(/^spec.drills\[2\].variant: stop-primary has no variant bang; it has graceful,/),
    "spec.drills[3]: kill-store may break the record store; such a drill is run by a person",
    "spec.drills[4] lists kill-executor twice",
  ]);
});
