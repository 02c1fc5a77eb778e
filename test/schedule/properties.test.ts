import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchedule } from "../../src/schedule/compile.ts";
import { parseCron } from "../../src/schedule/cron-expression.ts";
import type { Schedule, ScheduleSpec } from "../../src/schedule/schedule.ts";
import { zoneOf } from "../../src/schedule/zone.ts";
import { goldenZones } from "./golden.ts";

const seed = Number(process.env.ESCAPEMENT_SEED ?? Date.now() % 2 ** 31);
console.log(`schedule properties: ESCAPEMENT_SEED=${seed}`);
/** Seconds, not milliseconds, on a busy machine. */
const patience = 120_000;
const check = <T>(property: fc.IProperty<T>, numRuns: number) => fc.assert(property, { seed, numRuns });

const zones = [
  ...goldenZones.map((golden) => golden.zone),
  "Antarctica/Troll",
  "America/St_Johns",
  "Asia/Gaza",
];

/** Any field text that is valid between the two numbers. */
function field(min: number, max: number, open: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 1, max: Math.max(1, Math.floor((max - min) / 2)) });
  const item = fc.oneof(
    value.map(String),
    fc.tuple(value, value).map(([a, b]) => `${a}-${b}`),
    fc.tuple(value, value, step).map(([a, b, s]) => `${a}-${b}/${s}`),
    fc.tuple(value, step).map(([a, s]) => `${a}/${s}`),
    step.map((s) => `*/${s}`),
  );
  return fc.oneof(
    { weight: open, arbitrary: fc.constant("*") },
    { weight: 4, arbitrary: value.map(String) },
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(",")) },
  );
}
const dayOfMonth = fc.oneof(
  { weight: 4, arbitrary: field(1, 31, 8) },
  { weight: 1, arbitrary: fc.constantFrom("L", "LW", "L-3", "15W", "1W", "31W", "1,L", "L-5W") },
);
const dayOfWeek = fc.oneof(
  { weight: 4, arbitrary: field(0, 6, 12) },
  { weight: 1, arbitrary: fc.constantFrom("FRIL", "MON#1", "0#5", "SUN#2,SUN#4", "5-1") },
);
const cron = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constant("") }, { weight: 1, arbitrary: field(0, 59, 1) }),
    field(0, 59, 2),
    fc.oneof(
      { weight: 3, arbitrary: field(0, 23, 4) },
      { weight: 2, arbitrary: fc.constantFrom("0", "1", "2", "3", "23", "0-3") },
    ),
    dayOfMonth,
    field(1, 12, 12),
    dayOfWeek,
  )
  .map((parts) => parts.join(" ").trim())
  .filter((text) => {
    try {
      parseCron(text);
      return true;
    } catch {
      return false;
    }
  });
const spec: fc.Arbitrary<ScheduleSpec & { cron: string }> = fc.record({
  cron,
  zone: fc.constantFrom(...zones),
  dstGap: fc.constantFrom("run-at-transition", "skip"),
  dstOverlap: fc.constantFrom("first", "second", "both"),
});

/** Instants, half of them within two days of a change of the zone. */
function instantIn(zone: string): fc.Arbitrary<number> {
  const any = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2045, 0) });
  const changes = zoneOf(zone).transitions(Date.UTC(2008, 0) / 1000, Date.UTC(2032, 0) / 1000);
  if (changes.length === 0) return any;
  const near = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -172_800_000, max: 172_800_000 }))
    .map(([change, shift]) => change.sec * 1000 + shift);
  const at = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -2, max: 2 }), fc.constantFrom(0, 1800, 3600))
    .map(([change, ms, sec]) => (change.sec + sec) * 1000 + ms);
  return fc.oneof(any, near, at);
}
const question = spec.chain((one) => fc.tuple(fc.constant(one), instantIn(one.zone)));

const walkOn = (schedule: Schedule, from: number, count: number) => {
  const fires: number[] = [];
  for (let fire = schedule.next(from); fire !== null && fires.length < count; fire = schedule.next(fire))
    fires.push(fire);
  return fires;
};

describe("any expression, zone, policy and instant", () => {
  it(
    "next moves on, previous is its inverse, matches agrees with both",
    () => {
      check(
        fc.property(question, ([one, t]) => {
          const schedule = compileSchedule(one);
          const fires = walkOn(schedule, t, 12);
          // Rare days (a fifth Sunday in February) may run out before the year 2200.
          expect(fires.length).toBeGreaterThan(2);
          let last = t;
          for (const fire of fires) {
            expect(fire).toBeGreaterThan(last);
            expect(schedule.matches(fire)).toBe(true);
            expect(schedule.previous(fire + 1)).toBe(fire);
            const before = schedule.previous(fire);
            if (before !== null) {
              expect(before).toBeLessThan(fire);
              expect(schedule.next(before)).toBe(fire);
              if (last === t) expect(before).toBeLessThanOrEqual(t);
              else expect(before).toBe(last);
            }
            last = fire;
          }
        }),
        600,
      );
    },
    patience,
  );

  it(
    "an instant matches exactly if previous, next and between say so",
    () => {
      check(
        fc.property(question, ([one, t]) => {
          const schedule = compileSchedule(one);
          const near = [
            t,
            Math.round(t / 1000) * 1000,
            Math.round(t / 60_000) * 60_000,
            Math.round(t / 3_600_000) * 3_600_000,
          ];
          for (const ms of near) {
            const matches = schedule.matches(ms);
            expect(schedule.previous(ms + 1) === ms).toBe(matches);
            expect(schedule.between(ms - 1, ms)).toEqual(matches ? [ms] : []);
          }
        }),
        600,
      );
    },
    patience,
  );

  it(
    "a restart anywhere changes nothing",
    () => {
      check(
        fc.property(
          question,
          fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
          ([one, t], cuts) => {
            const schedule = compileSchedule(one);
            const fires = walkOn(schedule, t, 20);
            const end = fires.at(-1)!;
            expect(schedule.between(t, end)).toEqual(fires);
            expect(schedule.between(t, end, 7)).toEqual(fires.slice(0, 7));
            for (const cut of cuts) {
              const restart = Math.floor(t + (end - t) * cut);
              // A process that starts here, with a zone of its own, sees the rest of the same list.
              expect(compileSchedule(one).between(restart, end)).toEqual(
                fires.filter((fire) => fire > restart),
              );
            }
            expect(new Set(fires).size).toBe(fires.length);
          },
        ),
        600,
      );
    },
    patience,
  );

  it(
    "a fire shows a local time that the expression names, or is a change of the clock",
    () => {
      check(
        fc.property(question, ([one, t]) => {
          const zone = zoneOf(one.zone);
          const { second, minute, hour, month } = parseCron(one.cron);
          for (const fire of walkOn(compileSchedule(one), t, 5)) {
            const local = new Date(fire + zone.offsetAt(fire / 1000) * 1000);
            const named =
              second.values.includes(local.getUTCSeconds()) &&
              minute.values.includes(local.getUTCMinutes()) &&
              hour.values.includes(local.getUTCHours()) &&
              month.values.includes(local.getUTCMonth() + 1);
            const moved = zone
              .transitions(fire / 1000, fire / 1000 + 1)
              .some((change) => change.offsetAfter > change.offsetBefore);
            expect(named || (moved && one.dstGap === "run-at-transition")).toBe(true);
          }
        }),
        600,
      );
    },
    patience,
  );
});

describe("every minute of a long or a short day", () => {
  const days = [
    ["America/New_York", "2026-11-01", 1500],
    ["America/New_York", "2026-03-08", 1380],
    ["Europe/Berlin", "2026-10-25", 1500],
    ["Europe/Berlin", "2026-03-29", 1380],
    ["Australia/Lord_Howe", "2026-04-05", 1470],
    ["Australia/Lord_Howe", "2026-10-04", 1410],
    ["America/Santiago", "2025-09-07", 1380],
    ["Asia/Kolkata", "2026-03-29", 1440],
  ] as const;

  it.each(days)("%s on %s: %i fires of * * * * *, all a minute apart", (zone, day, count) => {
    for (const dstOverlap of ["first", "second", "both"] as const) {
      const offset = (ms: number) => zoneOf(zone).offsetAt(ms / 1000) * 1000;
      const noon = Date.parse(`${day}T12:00Z`);
      // Local midnight before and after that noon; in Santiago the first one is 01:00.
      const changes = zoneOf(zone).transitions(noon / 1000 - 129_600, noon / 1000 + 129_600);
      const before = changes.length > 0 ? changes[0]!.offsetBefore * 1000 : offset(noon);
      const from = Date.parse(`${day}T00:00Z`) - before;
      const to = Date.parse(`${day}T24:00Z`) - offset(noon + 86_400_000);
      const fires = compileSchedule({ cron: "* * * * *", zone, dstOverlap }).between(from - 1, to - 1);
      expect(fires.length).toBe(count);
      expect(fires.every((fire, index) => fire === from + index * 60_000)).toBe(true);
    }
  });
});

describe("special days against a calendar", () => {
  type Day = { date: Date; last: number };
  const weekday = ({ date }: Day) => date.getUTCDay();
  const nearest = (day: number, { date, last }: Day) => {
    if (day < 1 || day > last) return Number.NaN;
    const candidates = Array.from({ length: last }, (_, index) => index + 1).filter((other) => {
      const at = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), other)).getUTCDay();
      return at !== 0 && at !== 6;
    });
    // The nearest working day of the month; no two are equally near.
    return candidates.reduce((best, other) => (Math.abs(other - day) < Math.abs(best - day) ? other : best));
  };
  const definitions: [string, (day: Day) => boolean][] = [
    ["L * *", ({ date, last }) => date.getUTCDate() === last],
    ["L-3 * *", ({ date, last }) => date.getUTCDate() === last - 3],
    ["L-30 * *", ({ date, last }) => date.getUTCDate() === last - 30],
    ["15W * *", (day) => day.date.getUTCDate() === nearest(15, day)],
    ["1W * *", (day) => day.date.getUTCDate() === nearest(1, day)],
    ["31W * *", (day) => day.date.getUTCDate() === nearest(31, day)],
    ["LW * *", (day) => day.date.getUTCDate() === nearest(day.last, day)],
    ["L-2W * *", (day) => day.date.getUTCDate() === nearest(day.last - 2, day)],
    ["1,15,L * *", ({ date, last }) => [1, 15, last].includes(date.getUTCDate())],
    ["* * FRIL", (day) => weekday(day) === 5 && day.date.getUTCDate() > day.last - 7],
    ["* * 0L,7L", (day) => weekday(day) === 0 && day.date.getUTCDate() > day.last - 7],
    ["* * MON#1", (day) => weekday(day) === 1 && day.date.getUTCDate() <= 7],
    ["* * 2#5", (day) => weekday(day) === 2 && day.date.getUTCDate() > 28],
    [
      "* * WED#2,FRI",
      (day) => weekday(day) === 5 || (weekday(day) === 3 && Math.ceil(day.date.getUTCDate() / 7) === 2),
    ],
    ["13 * FRI", (day) => weekday(day) === 5 && day.date.getUTCDate() === 13],
    ["29 2 *", ({ date }) => date.getUTCMonth() === 1 && date.getUTCDate() === 29],
    ["29 2 1", (day) => day.date.getUTCMonth() === 1 && day.date.getUTCDate() === 29 && weekday(day) === 1],
    [
      "25-5 NOV-FEB 6-1",
      (day) => {
        const date = day.date.getUTCDate();
        return (
          (date >= 25 || date <= 5) &&
          [10, 11, 0, 1].includes(day.date.getUTCMonth()) &&
          [6, 0, 1].includes(weekday(day))
        );
      },
    ],
  ];

  it.each(definitions)("%s", (days, isDay) => {
    const from = Date.UTC(1985, 0);
    const to = Date.UTC(2110, 0);
    const expected: number[] = [];
    for (let ms = from; ms < to; ms += 86_400_000) {
      const date = new Date(ms);
      const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
      if (isDay({ date, last })) expected.push(ms);
    }
    expect(expected.length).toBeGreaterThan(3);
    expect(compileSchedule({ cron: `0 0 ${days}`, zone: "UTC" }).between(from - 1, to - 1)).toEqual(expected);
  });
});
