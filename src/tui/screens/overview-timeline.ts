/** The last 24 hours of fires: how many, and where one is missing. */

import { binMs } from "../../store/ui/job-slice.ts";
import { allOf, timelineBins } from "../data/day.ts";
import type { JobsView } from "../data/jobs-view.ts";
import type { State } from "../state/state.ts";
import { columns } from "../text/chart.ts";
import { type Line, line, type Span, span, type Tone } from "../text/line.ts";
import { count } from "../text/time-text.ts";

interface Slot {
  readonly startMs: number;
  readonly fires: number;
  readonly missing: number;
  readonly failed: number;
  readonly late: number;
  readonly refused: number;
  readonly open: number;
}

/** `chart` lines of columns, one of marks, one of hours. */
export function timelineLines(state: State, width: number, chart: number): Line[] {
  const jobs = state.picture.jobs?.value;
  if (!jobs) return [line(span("reading…", "muted"))];
  const legendWidth = 24;
  const room = width - legendWidth;
  const perSlot = room >= timelineBins ? 1 : room >= timelineBins / 2 ? 2 : 4;
  const slots = slotsOf(jobs.timeline, perSlot);
  const across = Math.max(1, Math.floor(room / slots.length));
  const wide = slots.flatMap((slot) =>
    Array.from({ length: across }, () => ({ value: slot.fires, tone: toneOfSlot(slot) })),
  );
  const picture = columns(wide, chart);
  const marks = line(...slots.map((slot) => markOf(slot, across)));
  const legend = legendOf(slots, perSlot);
  const lines = [...picture, marks, axis(slots, across)];
  const plotWidth = slots.length * across;
  return lines.map((one, i) => ({
    spans: [...one.spans, span(" ".repeat(Math.max(0, room - plotWidth + 1))), ...(legend[i]?.spans ?? [])],
  }));
}

/** Slots begin at whole halves or hours, so that hours can be written below them; the last one is not over yet. */
function slotsOf(bins: JobsView["timeline"], perSlot: number): Slot[] {
  const byBin = new Map(bins.map((one) => [one.bin, one]));
  const last = Math.floor((bins.at(-1)?.bin ?? 0) / perSlot);
  const slots = timelineBins / perSlot;
  return Array.from({ length: slots }, (_, i) => {
    const first = (last - slots + 1 + i) * perSlot;
    const part = Array.from({ length: perSlot }, (_, k) => byBin.get(first + k)).filter(
      (one) => one !== undefined,
    );
    const sum = (of: (bin: JobsView["timeline"][number]) => number) =>
      part.reduce((total, bin) => total + of(bin), 0);
    return {
      startMs: first * binMs,
      fires: sum((bin) => allOf(bin) + bin.unplanned),
      missing: sum((bin) => bin.missed + bin.unplanned),
      failed: sum((bin) => bin.failed),
      late: sum((bin) => bin.late),
      refused: sum((bin) => bin.refused),
      open: sum((bin) => bin.running + bin.waiting),
    };
  });
}

function toneOfSlot({ missing, failed, late, refused, open }: Slot): Tone {
  if (missing + failed > 0) return "bad";
  if (late + refused > 0) return "warn";
  return open > 0 ? "busy" : "good";
}

/** The worst of a slot, said by a sign. */
function markOf({ missing, failed, late, refused }: Slot, across: number): Span {
  const [sign, tone]: [string, Tone] =
    missing > 0
      ? ["!", "bad"]
      : failed > 0
        ? ["✗", "bad"]
        : refused > 0
          ? ["⊘", "warn"]
          : late > 0
            ? ["~", "warn"]
            : ["·", "muted"];
  return span(sign.repeat(across), tone);
}

/** Hours below their columns. */
function axis(slots: readonly Slot[], across: number): Line {
  const chars = Array.from({ length: slots.length * across }, () => " ");
  const every = slots.length * across >= 90 ? 2 : 4;
  for (const [i, { startMs }] of slots.entries()) {
    const hour = new Date(startMs).getUTCHours();
    if (startMs % 3_600_000 !== 0 || hour % every !== 0 || i * across + 2 > chars.length) continue;
    const text = String(hour).padStart(2, "0");
    chars[i * across] = text[0]!;
    chars[i * across + 1] = text[1]!;
  }
  return line(span(chars.join(""), "muted"));
}

function legendOf(slots: readonly Slot[], perSlot: number): Line[] {
  const sum = (of: (slot: Slot) => number) => slots.reduce((total, slot) => total + of(slot), 0);
  const entry = (sign: string, value: number, word: string, tone: Tone) =>
    line(
      span(sign, value > 0 ? tone : "muted"),
      span(` ${count(value).padStart(7)} `, value > 0 ? "strong" : "muted"),
      span(word, "muted"),
    );
  const peak = Math.max(0, ...slots.map(({ fires }) => fires));
  return [
    entry(
      "!",
      sum(({ missing }) => missing),
      "missing",
      "bad",
    ),
    entry(
      "✗",
      sum(({ failed }) => failed),
      "failed",
      "bad",
    ),
    entry(
      "~",
      sum(({ late }) => late),
      "late",
      "warn",
    ),
    entry(
      "█",
      sum(({ fires }) => fires),
      "fires",
      "good",
    ),
    line(
      span(`  ${count(peak).padStart(7)} `, "muted"),
      span(`at most a ${perSlot === 4 ? "1h" : `${perSlot * 15}m`}`, "muted"),
    ),
  ];
}
