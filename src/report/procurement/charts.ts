/** The three charts of the sheet: room over time, run length by shard count, headroom of the disk. */
import { decimalBytes, formatMs } from "../../capacity/format.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { areaChart, barChart } from "../svg.ts";

const blue = "#1f4e9c";
const orange = "#d07a1d";
const green = "#2f7d4f";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** As clocks are read. */
const clockSteps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12, 24].map((n) => n * hour),
];

export function storageChart({ storage }: Sheet): string {
  const needed = storage.figures.needed!.value;
  return areaChart({
    title: "Records on disk, month by month",
    labels: storage.overTime.map(({ month }) => `${month}`),
    series: [{ name: "records kept", colour: blue, values: storage.overTime.map(({ bytes }) => bytes) }],
    marks: [
      { value: needed, name: `disk to order, ${decimalBytes(needed)}` },
      {
        value: storage.figures.onDisk!.value,
        name: `all that lies on it, ${decimalBytes(storage.figures.onDisk!.value)}`,
      },
    ],
    format: decimalBytes,
  });
}

export function makespanChart({ shards: { answer } }: Sheet): string {
  const candidates = [answer.chosen, ...answer.alternatives].sort((a, b) => a.shards - b.shards);
  const lost = candidates.map(({ makespan }) => makespan.oneNodeLostP95Ms ?? 0);
  return barChart({
    title: "Length of a run by shard count",
    labels: candidates.map(({ shards }) => `${shards} shards${shards === answer.chosen.shards ? " ✓" : ""}`),
    series: [
      {
        name: "95 of 100 runs end within",
        colour: blue,
        values: candidates.map(({ makespan }) => makespan.p95Ms),
      },
      ...(lost.some((ms) => ms > 0) ? [{ name: "with one machine lost", colour: orange, values: lost }] : []),
    ],
    steps: clockSteps,
    format: formatMs,
  });
}

export function headroomChart({ iops }: Sheet): string {
  const { flushes, canFlush, writes, canWrite, peakCommits } = iops.figures;
  const rate = (value: number) =>
    value >= 1_000
      ? `${Math.round(value / 100) / 10}k`
      : value >= 10
        ? String(Math.round(value))
        : String(Math.round(value * 10) / 10);
  return barChart({
    title: "What the record store's disk is asked for, and what it can do, a second",
    labels: ["flushes", "flushes, one executor", "writes at the drives"],
    series: [
      {
        name: "needed in the busiest window",
        colour: orange,
        values: [flushes!.value, peakCommits!.value, writes!.value],
      },
      { name: "the disk can do", colour: green, values: [canFlush!.value, canFlush!.value, canWrite!.value] },
    ],
    format: rate,
    logarithmic: true,
  });
}
