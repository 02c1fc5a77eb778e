/** Peak days: what the past says, and when it says nothing. */
import { describe, expect, test } from "vitest";
import { forecastPeaks, type PeakQuestion } from "../../src/capacity/peak/forecast.ts";
import { regress } from "../../src/capacity/peak/regression.ts";
import {
  addDays,
  dayOf,
  isMonthEnd,
  isQuarterEnd,
  isWeekend,
  type RunRecord,
} from "../../src/capacity/peak/run-record.ts";
import { seeded } from "../../src/capacity/random.ts";

const utc = { timeZone: "UTC", dayOffset: 0, promotions: [] as string[] };

interface Truth {
  readonly days: number;
  readonly ordinaryRows: number;
  readonly monthEnd: number;
  readonly growthPerYear: number;
  readonly msPerRow: number;
  readonly noise: number;
}
const truth: Truth = {
  days: 400,
  ordinaryRows: 1_000_000,
  monthEnd: 2.5,
  growthPerYear: 0.2,
  msPerRow: 1.2,
  noise: 0.05,
};

/** Daily runs with a known month-end factor, growth and time a row. */
function history(of: Truth, first = "2025-01-01"): RunRecord[] {
  const random = seeded(11);
  return Array.from({ length: of.days }, (_, i) => {
    const day = addDays(first, i);
    const factor =
      (isMonthEnd(day) ? of.monthEnd : 1) *
      (1 + of.growthPerYear) ** (i / 365.25) *
      (isWeekend(day) ? 0.6 : 1);
    const rows = Math.round(of.ordinaryRows * factor * Math.exp(of.noise * random.normal()));
    return {
      fireTime: new Date(`${day}T02:00:00Z`),
      rows,
      durationMs: (60_000 + rows * of.msPerRow) * Math.exp(of.noise * random.normal()),
    };
  });
}
const ask = (runs: RunRecord[], more: Partial<PeakQuestion> = {}): PeakQuestion => ({
  runs,
  periodMs: 3_600_000,
  calendar: utc,
  today: "2026-02-04",
  seed: 1,
  ...more,
});
const kindOf = (answer: ReturnType<typeof forecastPeaks>, kind: string) =>
  answer.forecasts.find((one) => one.kind === kind)!;

test("the forecast of the next month end is what the history was made from", () => {
  const answer = forecastPeaks(ask(history(truth)));
  const peak = kindOf(answer, "month-end");
  expect(peak.day).toBe("2026-02-28");
  // A Saturday, after 423 days of growth.
  const rows = 1_000_000 * 2.5 * 1.2 ** (423 / 365.25) * 0.6;
  expect(peak.rows![0]).toBeLessThan(rows);
  expect(peak.rows![2]).toBeGreaterThan(rows);
  expect(peak.rows![1] / rows).toBeGreaterThan(0.9);
  expect(peak.rows![1] / rows).toBeLessThan(1.1);
  expect(peak.durationMs![1] / (60_000 + rows * 1.2)).toBeGreaterThan(0.9);
  expect(peak.durationMs![1] / (60_000 + rows * 1.2)).toBeLessThan(1.1);
  expect(answer.model.durationFormula).toMatch(/rows × 1\.\d+ ms/);
});

test("the interval holds what comes in about 90 of 100 cases", () => {
  let inside = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed);
    const runs = history(truth).map((run) => ({
      ...run,
      rows: Math.round(run.rows * Math.exp(0.1 * random.normal())),
    }));
    const { rows } = kindOf(forecastPeaks(ask(runs, { seed })), "ordinary");
    const real = 1_000_000 * 1.2 ** (400 / 365.25) * Math.exp(Math.hypot(0.1, 0.05) * random.normal());
    if (real >= rows![0] && real <= rows![2]) inside++;
  }
  expect(inside).toBeGreaterThanOrEqual(31);
});

describe("does the run outgrow its period?", () => {
  test.each([
    ["fits with room", 3 * 3_600_000, "fits"],
    ["outgrows on the peak day alone", 40 * 60_000, "outgrows"],
    ["is at risk when only the upper end is too long", 66 * 60_000, "at-risk"],
  ])("%s", (_, periodMs, verdict) => {
    const steady = history({ ...truth, growthPerYear: 0, noise: 0.12 });
    const answer = forecastPeaks(ask(steady, { periodMs, today: "2026-03-20" }));
    expect(kindOf(answer, "month-end").verdict === verdict || answer.verdict === verdict).toBe(true);
    expect(answer.verdict).toBe(verdict);
  });

  test("ordinary days may fit while the month end does not", () => {
    const answer = forecastPeaks(ask(history(truth), { periodMs: 45 * 60_000, today: "2026-03-25" }));
    expect(kindOf(answer, "ordinary").verdict).toBe("fits");
    expect(kindOf(answer, "quarter-end").verdict).toBe("outgrows");
    expect(answer.verdict).toBe("outgrows");
  });
});

describe("not enough data", () => {
  const runs = history(truth);
  test.each([
    ["no run at all", [], /0 runs/],
    ["ten runs", runs.slice(0, 10), /10 runs over 10 days/],
    ["forty runs on one day", Array.from({ length: 40 }, () => runs[0]!), /40 runs over 1 day/],
    ["the same rows every time", runs.map((run) => ({ ...run, rows: 1_000 })), /the same number of rows/],
    [
      "more rows, shorter runs",
      runs.map((run) => ({ ...run, durationMs: 1e10 / run.rows })),
      /rows cannot tell the duration/,
    ],
  ])("%s", (_, some, reason) => {
    const answer = forecastPeaks(ask(some as RunRecord[]));
    expect(answer.verdict).toBe("unknown");
    expect(answer.forecasts[0]?.reason).toMatch(reason);
  });

  test("one quarter end in the past is too few, and keeps the verdict open", () => {
    const answer = forecastPeaks(
      ask(history({ ...truth, days: 60 }, "2025-12-10"), { today: "2026-02-07", periodMs: 10 * 3_600_000 }),
    );
    expect(kindOf(answer, "ordinary").verdict).toBe("fits");
    expect(kindOf(answer, "quarter-end")).toMatchObject({
      verdict: "unknown",
      reason: "not enough data: 1 such day recorded, at least 2 are needed",
    });
    expect(answer.verdict).toBe("unknown");
  });

  test("a planned promotion that never was before is unknown; none planned is no gap", () => {
    const past = history(truth);
    const generous = { periodMs: 10 * 3_600_000 };
    expect(forecastPeaks(ask(past, generous)).verdict).toBe("fits");
    const planned = forecastPeaks(
      ask(past, { ...generous, calendar: { ...utc, promotions: ["2026-02-11"] } }),
    );
    expect(kindOf(planned, "promotion")).toMatchObject({ day: "2026-02-11", verdict: "unknown" });
    expect(planned.verdict).toBe("unknown");
  });

  test("runs without rows or duration are left out, and said so", () => {
    const answer = forecastPeaks(
      ask([...history(truth), { fireTime: new Date("2026-02-04T02:00:00Z"), rows: 0, durationMs: 5 }]),
    );
    expect(answer.notes.join()).toMatch(/Left out: 1 run without rows or duration/);
  });
});

test("runs after the last day known are left out, and said so", () => {
  const later = { fireTime: new Date("2199-01-01T02:00:00Z"), rows: 1, durationMs: 1 };
  const answer = forecastPeaks(ask([...history(truth), later]));
  expect(answer.notes.join()).toMatch(/Left out: 1 run after 2026-02-04/);
  expect(answer.forecasts).toEqual(forecastPeaks(ask(history(truth))).forecasts);
});

test.each(["2031-01-01", "9999-12-31", "0001-01-01"])("records tell nothing about %s", (today) => {
  const answer = forecastPeaks(ask(history(truth), { today }));
  expect(answer.verdict).toBe("unknown");
  for (const one of answer.forecasts) expect(one.reason).toMatch(/not enough data/);
});

describe("calendar", () => {
  test("days are those of the zone, moved by the offset", () => {
    const instant = new Date("2026-03-31T23:30:00Z");
    expect(dayOf(instant, utc)).toBe("2026-03-31");
    expect(dayOf(instant, { ...utc, timeZone: "Asia/Shanghai" })).toBe("2026-04-01");
    expect(dayOf(instant, { ...utc, timeZone: "Asia/Shanghai", dayOffset: -1 })).toBe("2026-03-31");
  });
  test("month ends, quarter ends, leap days, weekends", () => {
    expect([
      isMonthEnd("2026-02-28"),
      isMonthEnd("2028-02-28"),
      isMonthEnd("2028-02-29"),
      isMonthEnd("2026-12-31"),
    ]).toEqual([true, false, true, true]);
    expect([isQuarterEnd("2026-06-30"), isQuarterEnd("2026-05-31")]).toEqual([true, false]);
    expect([isWeekend("2026-11-28"), isWeekend("2026-11-30")]).toEqual([true, false]);
  });
});

test("least squares finds the plane it was given, and refuses columns that say the same", () => {
  const rows = Array.from({ length: 30 }, (_, i) => [1, i, i % 7]);
  const found = regress(
    rows,
    rows.map(([, a, b]) => 5 + 2 * a! - 3 * b!),
  )!;
  expect(found.coefficients.map((one) => Math.round(one * 1e6) / 1e6)).toEqual([5, 2, -3]);
  expect(found.residual).toBeLessThan(1e-6);
  expect(
    regress(
      rows.map(([one, a]) => [one!, a!, 2 * a!]),
      rows.map(([, a]) => a!),
    ),
  ).toBeUndefined();
  expect(regress([[1, 2]], [3])).toBeUndefined();
});
