/**
 * A run of a drill as a picture: fires, attempts by who ran them, effects and
 * refused writes, and the offsets of all clocks, below the window of the fault.
 * SVG without scripts; every mark says what it is when it is pointed at.
 *
 *   fires     | | |✕| | | | |        one mark a fire; a cross: without an effect
 *   exec-1    ▬▬ ▬▬ ▭                one bar an attempt; hollow: it did not succeed
 *   exec-2       ▬▬▬▬ ▬▬
 *   offsets   ──────┐   ┌──────      one line a clock
 *                   └───┘
 */
import type { ClockPoint, DrillReport } from "../../chaos/drill/drill-report.ts";
import type { AttemptRecord, History } from "../../chaos/history.ts";
import { escapeHtml } from "../html.ts";
import { laneOf } from "./lanes.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";

const width = 980;
const left = 150;
const right = 20;
const laneHeight = 18;
const barHeight = 4;
const rowsPerLane = 4;
const clocksHeight = 90;
const ink = "#1c2733";
const colours = {
  good: "#1a7f4b",
  bad: "#b3261e",
  stale: "#9a6700",
  fault: "#b3261e",
};
const clockColours = ["#1f5fa8", "#b35c00", "#5b3b8c", "#1a7f4b", "#8a1c4a", "#4d4d4d", "#007a87"];

/** @param history null: the run did not come to a judgement; then only the fault and the clocks are drawn */
export function drillTimeline(report: DrillReport, history: History | null): string {
  const axis = timeAxis(report, history, left, width - right);
  const lanes = laneOf(history);
  let y = 46;
  const parts: string[] = [];
  const label = (text: string, at: number) =>
    parts.push(
      `<text x="${left - 8}" y="${n(at)}" text-anchor="end" font-size="11" fill="${ink}">${escapeHtml(text)}</text>`,
    );
  if (history) {
    label("fires", y + 12);
    parts.push(fires(history, axis, y));
    y += laneHeight + 6;
    for (const [owner, attempts] of lanes) {
      label(owner, y + 12);
      parts.push(...attempts.map((attempt, i) => bar(attempt, axis, y + 2 + (i % rowsPerLane) * barHeight)));
      y += laneHeight + 6;
    }
    label("effects", y + 12);
    parts.push(effects(history, axis, y));
    y += laneHeight + 6;
  }
  if (report.clocks.length > 0) {
    parts.push(clocks(report.clocks, axis, y, label));
    y += clocksHeight;
  }
  const height = y + 30;
  const title = `${report.drill}/${report.variant} on ${report.target?.host ?? "no host"}: ${report.verdict}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${escapeHtml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="20" font-size="14" font-weight="600" fill="${ink}">${escapeHtml(title)}</text>`,
    window(report, axis, 30, y - 30),
    ...axis.ticks.map(
      ({ x, text }) =>
        `<line x1="${n(x)}" x2="${n(x)}" y1="40" y2="${y}" stroke="#d7dde3"/><text x="${n(x)}" y="${y + 16}" text-anchor="middle" font-size="10" fill="${ink}">${text}</text>`,
    ),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function window(
  { faultAt, restoredAt, target }: DrillReport,
  axis: TimeAxis,
  y: number,
  height: number,
): string {
  if (faultAt === null) return "";
  const [from, to] = [axis.x(faultAt), restoredAt === null ? axis.end : axis.x(restoredAt)];
  return (
    `<rect class="fault" x="${n(from)}" y="${y}" width="${n(Math.max(1, to - from))}" height="${n(height)}" fill="${colours.fault}" fill-opacity="0.12"><title>fault on ${escapeHtml(target?.host ?? "")} from ${faultAt} to ${restoredAt ?? "the end"}</title></rect>` +
    `<text x="${n(from + 3)}" y="${y + 10}" font-size="10" fill="${colours.fault}">fault</text>`
  );
}

function fires(history: History, axis: TimeAxis, y: number): string {
  const done = new Set(history.effects.map(({ job, fireTime }) => `${fireTime} ${job}`));
  return history.obligations
    .filter(({ fireTime }) => axis.holds(fireTime))
    .map(({ job, fireTime, allowed }) => {
      const x = axis.x(fireTime);
      const isDone = done.has(`${fireTime} ${job}`);
      const isOwed = allowed === "exactly-one";
      const text = `${job} ${fireTime}: ${isDone ? "has its effect" : isOwed ? "no effect" : `nothing owed (${allowed})`}`;
      const shape =
        isDone || !isOwed
          ? `<line x1="${n(x)}" x2="${n(x)}" y1="${y + 2}" y2="${y + 16}" stroke="${isDone ? colours.good : "#8b949e"}" stroke-width="2"/>`
          : cross(x, y + 9, 5, colours.bad);
      return `<g class="fire">${shape}<title>${escapeHtml(text)}</title></g>`;
    })
    .join("");
}

function bar(attempt: AttemptRecord, axis: TimeAxis, y: number): string {
  const { job, fireTime, shardNo, startedAt, endedAt, status } = attempt;
  if (startedAt === null) return "";
  const [from, to] = [axis.x(startedAt), endedAt === null ? axis.end : axis.x(endedAt)];
  const size = `x="${n(from)}" y="${n(y)}" width="${n(Math.max(1.5, to - from))}" height="${barHeight - 1}"`;
  const look =
    status === "success"
      ? `fill="${colours.good}"`
      : `fill="#ffffff" stroke="${status === "failed" ? colours.bad : colours.stale}" stroke-width="0.8"`;
  const text = `${job} ${fireTime} shard ${shardNo}, attempt ${attempt.attempt}: ${status}`;
  return `<rect class="attempt" ${size} ${look}><title>${escapeHtml(text)}</title></rect>`;
}

/** Effects and refusals have an order, not a time: each stands where its attempt ended. */
function effects(history: History, axis: TimeAxis, y: number): string {
  const ends = new Map(history.attempts.map((one) => [claimOf(one), one.endedAt ?? one.startedAt]));
  const seen = new Map(history.sightings.map((one) => [claimOf(one), one.until ?? one.from]));
  const place = (claim: Claim) => seen.get(claimOf(claim)) ?? ends.get(claimOf(claim)) ?? claim.fireTime;
  const dots = history.effects.map(
    (one) =>
      `<circle class="effect" cx="${n(axis.x(place(one)))}" cy="${y + 6}" r="2" fill="${colours.good}"><title>${escapeHtml(textOf(one))}: effect</title></circle>`,
  );
  const crosses = history.refusals.map(
    (one) =>
      `<g class="refusal">${cross(axis.x(place(one)), y + 13, 3, colours.stale)}<title>${escapeHtml(textOf(one))}: refused as ${one.reason}</title></g>`,
  );
  return [...dots, ...crosses].join("");
}

type Claim = Pick<AttemptRecord, "job" | "fireTime" | "shardNo" | "attempt" | "fenceToken">;

function claimOf({ job, fireTime, shardNo, fenceToken }: Claim): string {
  return `${job} ${fireTime} ${shardNo} ${fenceToken}`;
}

function textOf({ job, fireTime, shardNo, attempt }: Claim): string {
  return `${job} ${fireTime} shard ${shardNo}, attempt ${attempt}`;
}

function clocks(
  points: readonly ClockPoint[],
  axis: TimeAxis,
  y: number,
  label: (text: string, at: number) => void,
): string {
  const byClock = new Map<string, ClockPoint[]>();
  for (const point of points) {
    const own = byClock.get(point.clock);
    if (own) own.push(point);
    else byClock.set(point.clock, [point]);
  }
  // A second at least, so that noise looks like noise.
  const most = Math.max(1_000, ...points.map(({ offsetMs }) => Math.abs(offsetMs)));
  const middle = y + clocksHeight / 2;
  const at = (offsetMs: number) => middle - (offsetMs / most) * (clocksHeight / 2 - 8);
  const scale = (most / 1_000).toFixed(most < 10_000 ? 1 : 0);
  label(`clocks +${scale} s`, at(most) + 4);
  label(`-${scale} s`, at(-most) + 4);
  const zero = `<line x1="${left}" x2="${width - right}" y1="${n(middle)}" y2="${n(middle)}" stroke="#8b949e" stroke-dasharray="2 3"/>`;
  const lines = [...byClock].map(([clock, own], i) => {
    const path = own.map(({ at: when, offsetMs }) => `${n(axis.x(when))},${n(at(offsetMs))}`).join(" ");
    const colour = clockColours[i % clockColours.length];
    const name = `<text x="${left + 10 + i * 110}" y="${n(y + clocksHeight - 4)}" font-size="10" fill="${colour}">${escapeHtml(clock)}</text>`;
    return `${name}<polyline class="clock" points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"><title>${escapeHtml(clock)}</title></polyline>`;
  });
  return zero + lines.join("");
}

function cross(x: number, y: number, r: number, colour: string): string {
  return `<path d="M${n(x - r)} ${n(y - r)}L${n(x + r)} ${n(y + r)}M${n(x - r)} ${n(y + r)}L${n(x + r)} ${n(y - r)}" stroke="${colour}" stroke-width="2"/>`;
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
