/**
 * Fits recorded runs against rows and calendar, forecasts the coming peak days,
 * and answers: does the run outgrow its period? Says "not enough data" where
 * that is the answer.
 */
import { counted } from "../format.ts";
import { seeded } from "../random.ts";
import { type SourceId, sourceOf } from "../source.ts";
import { quantile } from "../statistics.ts";
import { type Regression, regress } from "./regression.ts";
import {
  addDays,
  type Calendar,
  type Day,
  dayOf,
  daysBetween,
  isMonthEnd,
  isQuarterEnd,
  isWeekend,
  type RunRecord,
} from "./run-record.ts";

export const peakKinds = ["ordinary", "month-end", "quarter-end", "promotion"] as const;
export type PeakKind = (typeof peakKinds)[number];

export interface PeakForecast {
  readonly kind: PeakKind;
  readonly day: Day | undefined;
  readonly verdict: "fits" | "at-risk" | "outgrows" | "unknown";
  readonly reason: string;
  /** 5th, 50th and 95th percentile; undefined when unknown. */
  readonly rows?: readonly [number, number, number];
  readonly durationMs?: readonly [number, number, number];
  /** Share of the draws that last longer than the period. */
  readonly overShare?: number;
}

export interface PeakAnswer {
  readonly verdict: PeakForecast["verdict"];
  readonly forecasts: readonly PeakForecast[];
  readonly model: {
    readonly runs: number;
    readonly days: number;
    readonly durationFormula: string;
    readonly rowsFormula: string;
    readonly durationExplained: number;
    readonly rowsExplained: number;
  };
  readonly source: { readonly id: SourceId; readonly text: string };
  readonly notes: readonly string[];
}

export interface PeakQuestion {
  readonly runs: readonly RunRecord[];
  readonly periodMs: number;
  readonly calendar: Calendar;
  /** The last day known; forecasts begin on the day after. */
  readonly today: Day;
  readonly seed: number;
}

const fewestRuns = 20;
const fewestDays = 14;
/** A kind of day must have been seen so often before its size can be told. */
const fewestOfKind = 2;
const draws = 4_000;
/** Records that end longer ago than this, and than they reach over, say nothing about tomorrow, days. */
const longestGap = 31;

export function forecastPeaks(question: PeakQuestion): PeakAnswer {
  const { runs, calendar, today } = question;
  const known = runs.filter(({ fireTime }) => dayOf(fireTime, calendar) <= lastKnown(today, calendar));
  const usable = known.filter(({ rows, durationMs }) => rows > 0 && durationMs > 0);
  const largest = largestOfDay(usable, calendar);
  const days = [...largest.keys()].sort();
  const span = days.length === 0 ? 0 : daysBetween(days[0]!, days.at(-1)!) + 1;
  const base = {
    source: { id: "regression" as const, text: sourceOf("regression").text },
    notes: notesOf(runs.length - known.length, known.length - usable.length, days.at(-1), today),
  };
  const nothing = (reason: string): PeakAnswer => ({
    ...base,
    verdict: "unknown",
    forecasts: peakKinds.map((kind) => ({ kind, day: undefined, verdict: "unknown", reason })),
    model: {
      runs: usable.length,
      days: days.length,
      durationFormula: "none",
      rowsFormula: "none",
      durationExplained: 0,
      rowsExplained: 0,
    },
  });
  if (usable.length < fewestRuns || span < fewestDays) {
    return nothing(
      `not enough data: ${counted(usable.length, "run")} over ${counted(span, "day")}; at least ${fewestRuns} with rows and a duration over ${fewestDays} days are needed`,
    );
  }
  const age = daysBetween(days.at(-1)!, today);
  if (age > Math.max(longestGap, span)) {
    return nothing(
      `not enough data: the latest run is ${age} days old, more than the ${span} days that the records reach over`,
    );
  }
  const duration = regress(
    usable.map(({ rows }) => [1, rows]),
    usable.map(({ durationMs }) => durationMs),
  );
  if (!duration) return nothing("not enough data: every run had the same number of rows");
  if (duration.coefficients[1]! <= 0)
    return nothing("not enough data: longer runs did not have more rows, so rows cannot tell the duration");

  const seen = countKinds(days, calendar);
  const features = featuresFor(seen, span);
  const rowOf = (day: Day) => features.map((feature) => feature.value(day, days[0]!, calendar));
  const size = regress(
    days.map(rowOf),
    days.map((day) => Math.log(largest.get(day)!)),
  );
  if (!size) return nothing("not enough data: the days do not differ enough to tell calendar effects apart");

  const ratios = usable.map(({ rows, durationMs }) => durationMs / Math.max(1, duration.at([1, rows])));
  const forecasts = peakKinds.map((kind) => {
    const day = nextOf(kind, question.today, calendar);
    return forecastDay(kind, day, seen[kind], size, duration, ratios, rowOf, question);
  });
  return {
    ...base,
    verdict: worst(forecasts),
    forecasts,
    model: {
      runs: usable.length,
      days: days.length,
      durationFormula: `duration = ${(duration.coefficients[0]! / 1_000).toFixed(1)} s + rows × ${duration.coefficients[1]!.toPrecision(3)} ms`,
      rowsFormula: `rows = exp(${features.map(({ name }, i) => `${size.coefficients[i]!.toPrecision(3)}${name === "" ? "" : ` × ${name}`}`).join(" + ")})`,
      durationExplained: duration.explained,
      rowsExplained: size.explained,
    },
  };
}

interface Feature {
  readonly name: string;
  value(day: Day, first: Day, calendar: Calendar): number;
}

/** Only what has been seen on both sides can be fitted. */
function featuresFor(seen: Record<PeakKind, number>, span: number): Feature[] {
  const features: Feature[] = [{ name: "", value: () => 1 }];
  if (span >= 60) features.push({ name: "years", value: (day, first) => daysBetween(first, day) / 365.25 });
  if (span >= 28) features.push({ name: "weekend", value: (day) => Number(isWeekend(day)) });
  if (seen["month-end"] >= fewestOfKind)
    features.push({ name: "month-end", value: (day) => Number(isMonthEnd(day)) });
  if (seen["quarter-end"] >= fewestOfKind)
    features.push({ name: "quarter-end", value: (day) => Number(isQuarterEnd(day)) });
  if (seen.promotion >= fewestOfKind)
    features.push({ name: "promotion", value: (day, _, { promotions }) => Number(promotions.includes(day)) });
  return features;
}

function countKinds(days: readonly Day[], { promotions }: Calendar): Record<PeakKind, number> {
  return {
    ordinary: days.length,
    "month-end": days.filter(isMonthEnd).length,
    "quarter-end": days.filter(isQuarterEnd).length,
    promotion: days.filter((day) => promotions.includes(day)).length,
  };
}

function largestOfDay(runs: readonly RunRecord[], calendar: Calendar): Map<Day, number> {
  const largest = new Map<Day, number>();
  for (const { fireTime, rows } of runs) {
    const day = dayOf(fireTime, calendar);
    largest.set(day, Math.max(largest.get(day) ?? 0, rows));
  }
  return largest;
}

function nextOf(kind: PeakKind, today: Day, calendar: Calendar): Day | undefined {
  for (let day = addDays(today, 1), i = 0; i < 400; day = addDays(day, 1), i++) {
    const isPromotion = calendar.promotions.includes(day);
    if (
      kind === "promotion"
        ? isPromotion
        : kind === "quarter-end"
          ? isQuarterEnd(day)
          : kind === "month-end"
            ? isMonthEnd(day) && !isQuarterEnd(day)
            : !isMonthEnd(day) && !isPromotion && !isWeekend(day)
    )
      return day;
  }
  return undefined;
}

function forecastDay(
  kind: PeakKind,
  day: Day | undefined,
  seen: number,
  size: Regression,
  duration: Regression,
  ratios: readonly number[],
  rowOf: (day: Day) => number[],
  { periodMs, seed }: PeakQuestion,
): PeakForecast {
  if (day === undefined) return { kind, day, verdict: "unknown", reason: "none within the next 400 days" };
  if (seen < fewestOfKind) {
    return {
      kind,
      day,
      verdict: "unknown",
      reason: `not enough data: ${counted(seen, "such day")} recorded, at least ${fewestOfKind} are needed`,
    };
  }
  const random = seeded(seed);
  const row = rowOf(day);
  const centre = size.at(row);
  const spread = size.spreadAt(row);
  const rows: number[] = [];
  const durations: number[] = [];
  for (let i = 0; i < draws; i++) {
    const drawn = Math.exp(centre + spread * random.normal());
    rows.push(drawn);
    durations.push(Math.max(0, duration.at([1, drawn])) * random.pick(ratios));
  }
  const over = durations.filter((ms) => ms > periodMs).length / draws;
  const [low, middle, high] = [0.05, 0.5, 0.95].map((share) => quantile(durations, share)) as [
    number,
    number,
    number,
  ];
  if (!Number.isFinite(high) || !Number.isFinite(rows[0]))
    return { kind, day, verdict: "unknown", reason: "not enough data: the fit gives no number for this day" };
  const verdict = middle > periodMs ? "outgrows" : high > periodMs ? "at-risk" : "fits";
  const share = `${(over * 100).toFixed(over > 0 && over < 0.01 ? 2 : 0)} %`;
  return {
    kind,
    day,
    verdict,
    reason: `${share} of the simulated runs last longer than the period`,
    rows: [0.05, 0.5, 0.95].map((one) => quantile(rows, one)) as [number, number, number],
    durationMs: [low, middle, high],
    overShare: over,
  };
}

/** What is known to be bad decides; then what is not known. A promotion that is not planned is no gap. */
function worst(forecasts: readonly PeakForecast[]): PeakForecast["verdict"] {
  const counted = forecasts.filter(({ kind, day }) => kind !== "promotion" || day !== undefined);
  for (const verdict of ["outgrows", "at-risk", "unknown"] as const)
    if (counted.some((one) => one.verdict === verdict)) return verdict;
  return "fits";
}

/** A run of today may work on the data of a later day. */
function lastKnown(today: Day, { dayOffset }: Calendar): Day {
  return addDays(today, Math.max(0, dayOffset));
}

function notesOf(later: number, dropped: number, last: Day | undefined, today: Day): string[] {
  const notes = [
    "The interval is for one run of the largest size of its day; 90 of 100 such runs lie in it if the past goes on.",
  ];
  if (later > 0) notes.push(`Left out: ${counted(later, "run")} after ${today}.`);
  if (dropped > 0) notes.push(`Left out: ${counted(dropped, "run")} without rows or duration.`);
  if (last !== undefined && daysBetween(last, today) > 14)
    notes.push(`The latest run is of ${last}: the forecast reaches further than it looks back.`);
  return notes;
}
