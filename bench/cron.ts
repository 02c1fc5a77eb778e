/** Next fire of an expression in a named zone, beside croner and cron-parser in the same run. */
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import { compileSchedule } from "../src/schedule/compile.ts";

/** Bars of the design, in microseconds a call. */
const bars = { common: 0.5, worst: 2 } as const;

const cases: { kind: keyof typeof bars; cron: string; zone: string }[] = [
  { kind: "common", cron: "* * * * *", zone: "Europe/Berlin" },
  { kind: "common", cron: "*/5 * * * *", zone: "America/New_York" },
  { kind: "common", cron: "0 2 * * *", zone: "Europe/Berlin" },
  { kind: "common", cron: "30 9 * * MON-FRI", zone: "America/New_York" },
  { kind: "common", cron: "0 0 1 * *", zone: "Australia/Lord_Howe" },
  { kind: "common", cron: "0 0 L * *", zone: "Asia/Kolkata" },
  { kind: "common", cron: "0 0 1 1 *", zone: "UTC" },
  { kind: "worst", cron: "0 0 29 2 *", zone: "Europe/Berlin" },
  { kind: "worst", cron: "0 0 13 * FRI", zone: "Europe/Berlin" },
  { kind: "worst", cron: "0 0 29 2 1", zone: "Europe/Berlin" },
  { kind: "worst", cron: "0 0 29 2 1", zone: "Africa/Casablanca" },
];

const rounds = 7;
const roundNs = 60e6;
/** Instants to ask from: a prime number of them, spread over three years, both sides of every change. */
const instants = Array.from({ length: 997 }, (_, index) => Date.UTC(2025, 0) + index * 94_951_789);
let sink = 0;

const scenarios = cases.map(({ kind, cron, zone }) => {
  const schedule = compileSchedule({ cron, zone });
  const ours = perCall((from) => schedule.next(from) ?? 0);
  const back = perCall((from) => schedule.previous(from) ?? 0);
  const matches = perCall((from) => (schedule.matches(from) ? 1 : 0));
  // Both peers read two day fields as OR by default; asked for AND, the work is the same as ours.
  const croner = new Cron(cron, { timezone: zone, domAndDow: true });
  const cronerNs = perCall((from) => croner.nextRun(new Date(from))?.getTime() ?? 0);
  const bothDays = cron.split(" ")[2] !== "*" && cron.split(" ")[4] !== "*";
  const parserNs = bothDays ? undefined : perCall((from) => parserNext(cron, zone, from));
  return { kind, cron, zone, ours, back, matches, croner: cronerNs, parser: parserNs };
});

const us = (ns: number | undefined) => (ns === undefined ? "-" : (ns / 1000).toFixed(ns < 10_000 ? 3 : 0));
const ratio = (ns: number | undefined, ours: number) =>
  ns === undefined ? "-" : `${Math.round(ns / ours)}x`;
const rows = scenarios.map((one) => [
  one.cron,
  one.zone,
  us(one.ours),
  us(one.back),
  us(one.matches),
  us(one.croner),
  ratio(one.croner, one.ours),
  us(one.parser),
  ratio(one.parser, one.ours),
  `${one.kind} <= ${bars[one.kind]}`,
  one.ours / 1000 <= bars[one.kind] ? "ok" : "MISSED",
]);
const header = [
  "expression",
  "zone",
  "next",
  "previous",
  "matches",
  "croner",
  "",
  "cron-parser",
  "",
  "bar (us)",
  "",
];
print([header, ...rows]);
console.log(
  `\nmicroseconds of processor time a call, median of ${rounds} rounds; the ratio is theirs over our next.`,
);
console.log(
  "cron-parser compiles at every call, since it takes the instant when it parses; - = it cannot ask for AND of two day fields.",
);
console.log(
  `compiling 0 2 * * * : ${us(perCall(() => compileSchedule({ cron: "0 2 * * *", zone: "Europe/Berlin" }).next(0) ?? 0))} us with its first answer (zone known)`,
);
if (sink === 42) console.log("");
process.exitCode = rows.every((row) => row.at(-1) === "ok") ? 0 : 1;

function parserNext(cron: string, zone: string, from: number): number {
  return CronExpressionParser.parse(cron, { tz: zone, currentDate: from }).next().getTime();
}

/** Median nanoseconds of one call: processor time, so that a busy machine does not count against anyone. */
function perCall(call: (from: number) => number): number {
  const samples: number[] = [];
  let batch = 1;
  let at = 0;
  for (let round = -2; round < rounds; ) {
    const start = process.cpuUsage();
    for (let count = 0; count < batch; count++) {
      at = at === instants.length - 1 ? 0 : at + 1;
      sink += call(instants[at]!);
    }
    const { user, system } = process.cpuUsage(start);
    const took = (user + system) * 1000;
    if (took < roundNs / 4) {
      batch *= 2;
      continue;
    }
    // The first two full rounds warm up.
    if (round >= 0) samples.push(took / batch);
    round++;
  }
  return samples.sort((a, b) => a - b)[rounds >> 1]!;
}

function print(lines: string[][]): void {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}
