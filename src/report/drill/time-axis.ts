/** From instants to places: from a little before the fault to the end of the run. Pure. */
import type { DrillReport } from "../../chaos/drill/drill-report.ts";
import type { History } from "../../chaos/history.ts";

export interface TimeAxis {
  readonly end: number;
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
  /** What lies outside stands at the edge. */
  x(instant: string): number;
  holds(instant: string): boolean;
}

const stepsS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600];
const mostTicks = 14;

/** Ticks are seconds from the fault, or from the start where there was none. */
export function timeAxis(report: DrillReport, history: History | null, from: number, to: number): TimeAxis {
  const fires = (history?.obligations ?? []).map(({ fireTime }) => Date.parse(fireTime));
  const startMs = Math.min(Date.parse(report.startedAt), ...fires);
  const endMs = Math.max(startMs + 1_000, Date.parse(report.endedAt));
  const zeroMs = Date.parse(report.faultAt ?? report.startedAt);
  const place = (ms: number) => from + ((ms - startMs) / (endMs - startMs)) * (to - from);
  const spanS = (endMs - startMs) / 1_000;
  const stepS = stepsS.find((step) => spanS / step <= mostTicks) ?? Math.ceil(spanS / mostTicks);
  const first = Math.ceil((startMs - zeroMs) / 1_000 / stepS) * stepS;
  const ticks: { x: number; text: string }[] = [];
  for (let s = first; zeroMs + s * 1_000 <= endMs; s += stepS)
    ticks.push({ x: place(zeroMs + s * 1_000), text: `${s > 0 ? "+" : ""}${s} s` });
  return {
    end: to,
    ticks,
    x: (instant) => Math.min(to, Math.max(from, place(Date.parse(instant)))),
    holds: (instant) => Date.parse(instant) >= startMs && Date.parse(instant) <= endMs,
  };
}
