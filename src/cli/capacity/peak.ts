/** `escapement capacity peak`: does a run outgrow its period on the coming peak days? */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { PeakAnswer, PeakForecast } from "../../capacity/peak/forecast.ts";
import type { RunRecord } from "../../capacity/peak/run-record.ts";
import { defineCommand } from "../command.ts";
import { withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";
import { dateOption, durationOption, wholeOption } from "./options.ts";

interface PeakOptions {
  readonly runs?: string;
  readonly job?: string;
  readonly cluster?: string;
  readonly url?: string;
  readonly period?: string;
  readonly timeZone?: string;
  readonly dayOffset: string;
  readonly promotion?: readonly string[];
  readonly today?: string;
  readonly seed: string;
  readonly json?: boolean;
}

export function buildPeak(): Command {
  const command = defineCommand("peak", "does a run outgrow its period on the coming peak days?", {
    examples: [
      "escapement capacity peak --runs runs.csv --period 1h --time-zone Europe/Berlin",
      "escapement capacity peak --job settlement --cluster cluster.yaml",
      "escapement capacity peak --runs runs.csv --period 1h --promotion 2026-11-11 --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData, ExitCode.unavailable],
    notes:
      "The CSV has columns fire_time (RFC 3339), rows and duration_seconds. Ends with 0 when the run fits its period\non every coming peak day, 1 when it does not, 5 when there is not enough data to tell.",
  })
    .option("--runs <file>", "CSV of recorded runs")
    .option("--job <name>", "read the runs of this job from the record store");
  return withStoreOptions(command)
    .option(
      "--period <duration>",
      "time from one fire to the next (default: the shortest gap of the job's schedule)",
    )
    .option("--time-zone <zone>", "zone whose calendar days count (default: the job's, else UTC)")
    .option(
      "--day-offset <days>",
      "a run works on the data of this many days later; -1 for the day before",
      "0",
    )
    .option("--promotion <date...>", "days of promotions, past and coming")
    .option("--today <date>", "the last day known (default: today)")
    .option("--seed <number>", "seed of the simulation", "1")
    .option("--json", "print one JSON document")
    .action(async (options: PeakOptions) => {
      const answer = await ask(options);
      if (options.json) printJson({ ...answer });
      else await printPeak(answer);
      if (answer.verdict === "unknown") process.exitCode = ExitCode.unknown;
      else if (answer.verdict !== "fits") process.exitCode = ExitCode.failed;
    });
}

async function ask(
  options: PeakOptions,
): Promise<PeakAnswer & { readonly periodMs: number; readonly timeZone: string }> {
  const { forecastPeaks } = await import("../../capacity/peak/forecast.ts");
  const { dayOf } = await import("../../capacity/peak/run-record.ts");
  if ((options.runs === undefined) === (options.job === undefined))
    throw new EscapementError("E_USAGE", { what: "give either --runs FILE or --job NAME" });
  const recorded =
    options.job === undefined
      ? undefined
      : await (await import("./recorded-runs.ts")).readRecordedRuns(options, options.job);
  const runs = recorded?.runs ?? (await readRuns(options.runs!));
  const periodMs =
    options.period === undefined ? recorded?.periodMs : durationOption("--period", options.period);
  if (periodMs === undefined)
    throw new EscapementError("E_USAGE", { what: "--period is needed: the schedule does not tell it" });
  if (periodMs <= 0)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--period",
      value: options.period ?? "",
      expected: "longer than nothing",
      hint: "write for example 1h",
    });
  const timeZone = zoneOf(options.timeZone ?? recorded?.timeZone ?? "UTC");
  const answer = forecastPeaks({
    runs,
    periodMs,
    calendar: {
      timeZone,
      dayOffset: offsetOf(options.dayOffset),
      promotions: (options.promotion ?? []).map((day) => dateOption("--promotion", day)),
    },
    today:
      options.today === undefined
        ? dayOf(new Date(), { timeZone, dayOffset: 0, promotions: [] })
        : dateOption("--today", options.today),
    seed: wholeOption("--seed", options.seed),
  });
  return { ...answer, periodMs, timeZone };
}

/** Recorded runs are of this age, and of days that the calendar has. @throws E_BAD_DATA */
function checkedInstant(instant: Date, text: string, at: string): Date {
  const day = text.slice(0, 10);
  const isDay = new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  if (isDay && instant.getUTCFullYear() >= 1970) return instant;
  throw new EscapementError(
    "E_BAD_DATA",
    {
      what: `fire_time is ${JSON.stringify(text)}, ${isDay ? "before 1970" : "no day of the calendar"}`,
      hint: "correct the line",
    },
    { at },
  );
}

async function readRuns(file: string): Promise<RunRecord[]> {
  const { columnIndex, readCsv } = await import("./csv-stream.ts");
  const { parseInstant } = await import("../../base/instant.ts");
  const runs: RunRecord[] = [];
  let columns: readonly [number, number, number] = [0, 0, 0];
  await readCsv(
    file,
    (names) => {
      columns = [
        columnIndex(names, "fire_time", file),
        columnIndex(names, "rows", file),
        columnIndex(names, "duration_seconds", file),
      ];
    },
    ({ fields, line }) => {
      const [fireTime, rows, seconds] = columns.map((index) => (fields[index] ?? "").trim()) as [
        string,
        string,
        string,
      ];
      const at = `${file}:${line}`;
      const number = (name: string, text: string) => {
        const value = Number(text);
        if (text === "" || !Number.isFinite(value) || value < 0)
          throw new EscapementError(
            "E_BAD_DATA",
            {
              what: `${name} is ${JSON.stringify(text)}, not a number of at least 0`,
              hint: "correct the line",
            },
            { at },
          );
        return value;
      };
      try {
        runs.push({
          fireTime: checkedInstant(parseInstant(fireTime), fireTime, at),
          rows: number("rows", rows),
          durationMs: number("duration_seconds", seconds) * 1_000,
        });
      } catch (error) {
        if (error instanceof EscapementError && error.code === "E_INSTANT")
          throw new EscapementError("E_BAD_DATA", { what: error.message, hint: error.hint }, { at });
        throw error;
      }
    },
  );
  return runs;
}

function zoneOf(zone: string): string {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return zone;
  } catch {
    throw new EscapementError("E_ZONE_UNKNOWN", { zone, suggestion: "" });
  }
}

function offsetOf(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || Math.abs(days) > 31)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--day-offset",
      value: text,
      expected: "a whole number of days",
      hint: "-1 for the day before",
    });
  return days;
}

const words: Readonly<Record<PeakForecast["verdict"], string>> = {
  fits: "fits",
  "at-risk": "at risk",
  outgrows: "outgrows",
  unknown: "unknown",
};

async function printPeak(answer: PeakAnswer & { readonly periodMs: number }): Promise<void> {
  const { formatMs, formatValue } = await import("../../capacity/format.ts");
  const { printNotes } = await import("./print-answer.ts");
  const colour =
    answer.verdict === "fits" ? paint.green : answer.verdict === "unknown" ? paint.yellow : paint.red;
  const headline = {
    fits: "the run fits its period",
    "at-risk": "the run may outgrow its period",
    outgrows: "the run outgrows its period",
    unknown: "not enough data to tell",
  };
  print(`${paint.bold(colour(headline[answer.verdict]))} of ${formatMs(answer.periodMs)}`);
  print();
  const three = (values: readonly [number, number, number] | undefined, write: (value: number) => string) =>
    values ? `${write(values[1])} (${write(values[0])} to ${write(values[2])})` : "-";
  print(
    table(
      ["day", "kind", "rows, 90 of 100", "duration, 90 of 100", "verdict", "why"],
      answer.forecasts.map((one) => [
        one.day ?? "-",
        one.kind,
        three(one.rows, (value) => formatValue(value, "count")),
        three(one.durationMs, formatMs),
        words[one.verdict],
        one.reason,
      ]),
    ),
  );
  print();
  const { model } = answer;
  print(`model: ${model.runs} runs on ${model.days} days`);
  print(
    `  ${model.durationFormula}  ${paint.dim(`explains ${Math.round(model.durationExplained * 100)} %`)}`,
  );
  print(`  ${model.rowsFormula}  ${paint.dim(`explains ${Math.round(model.rowsExplained * 100)} %`)}`);
  print(`  ${paint.dim(answer.source.text)}`);
  printNotes(answer.notes);
}
