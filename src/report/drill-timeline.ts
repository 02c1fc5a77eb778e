/**
 * A run of a drill as a picture: fires, attempts on each host, the fault, and
 * everybody's clock, over one axis of time. Readable without colour: an attempt
 * that did not succeed is hatched and crossed, a stale write is a cross.
 */
import type { DrillReport } from "../chaos/drill/drill-report.ts";
import type { AttemptRecord, History } from "../chaos/history.ts";
import { escapeHtml } from "./html.ts";

const width = 1_000;
const left = 150;
const right = 20;
const plot = width - left - right;
const laneHeight = 13;
const clockHeight = 110;
const ink = "#1c2733";
const colours = { good: "#2e7d4f", bad: "#b3261e", open: "#8a8f98", fault: "#f3c9a5", line: "#c9ced6" };
const verdictColour = { pass: colours.good, fail: colours.bad, unknown: "#9a6b00" };
/** Of the clocks, in the order of their names. */
const series = ["#1f5fa8", "#b3261e", "#2e7d4f", "#8a4fa3", "#9a6b00", "#0f7c80", "#5b6470"];
/** Shards of one host that run at once are drawn side by side, up to so many. */
const mostLanes = 12;

/** @returns the SVG as text */
export function drillTimeline(report: DrillReport, history: History | null): string {
  const from = Date.parse(report.startedAt);
  const to = Math.max(from + 1_000, Date.parse(report.endedAt));
  const x = (at: number) => left + (plot * (Math.min(Math.max(at, from), to) - from)) / (to - from);
  const parts: string[] = [];
  let y = 62;
  const top = y;
  if (history) {
    y = drawFires(parts, history, x, y);
    y = drawAttempts(parts, report, history, x, y);
  }
  if (report.clocks.length > 0) y = drawClocks(parts, report, x, y);
  const bottom = y + 6;
  const height = bottom + 34;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="4" height="4" fill="#fff"/><line x1="0" y1="0" x2="0" y2="4" stroke="${colours.bad}" stroke-width="2"/></pattern></defs>`,
    heading(report),
    fault(report, x, top - 8, bottom),
    ...parts,
    axis(from, to, x, bottom),
    "</svg>",
    "",
  ].join("\n");
}

function heading({ drill, variant, verdict, reason, target }: DrillReport): string {
  const title = `${drill}/${variant}${target ? ` on ${target.host}` : ""}`;
  const short = reason.length > 150 ? `${reason.slice(0, 149)}…` : reason;
  return (
    text(16, 24, title, { size: 16, weight: "bold" }) +
    `<rect x="${width - 110}" y="8" width="90" height="22" rx="4" fill="${verdictColour[verdict]}"/>` +
    text(width - 65, 24, verdict, { anchor: "middle", fill: "#fff", weight: "bold" }) +
    text(16, 44, short, { size: 11 })
  );
}

function fault(
  { faultAt, restoredAt, endedAt, order }: DrillReport,
  x: X,
  y: number,
  bottom: number,
): string {
  if (faultAt === null) return "";
  const [a, b] = [x(Date.parse(faultAt)), x(Date.parse(restoredAt ?? endedAt))];
  const label = `${order?.fault ?? "fault"}${restoredAt === null ? ", not restored" : ""}`;
  return (
    `<rect x="${n(a)}" y="${y}" width="${n(Math.max(1, b - a))}" height="${bottom - y}" fill="${colours.fault}" fill-opacity="0.55"/>` +
    text(a + 3, y + 9, label, { size: 10 }) +
    (restoredAt === null ? "" : text(b + 3, y + 9, "restored", { size: 10 }))
  );
}

type X = (at: number) => number;

function drawFires(parts: string[], { obligations, effects }: History, x: X, y: number): number {
  const done = new Set(effects.map(({ job, fireTime }) => `${job} ${fireTime}`));
  const probes = obligations.filter((one) => !one.recordsOnly && one.allowed !== "none");
  parts.push(text(left - 8, y + 10, "fires", { anchor: "end", size: 11 }));
  for (const fire of probes) {
    const good = done.has(`${fire.job} ${fire.fireTime}`);
    const at = n(x(Date.parse(fire.fireTime)));
    parts.push(
      good
        ? `<line x1="${at}" y1="${y}" x2="${at}" y2="${y + 12}" stroke="${colours.good}" stroke-width="1.5"/>`
        : cross(Number(at), y + 6),
    );
  }
  return y + 24;
}

function drawAttempts(parts: string[], report: DrillReport, history: History, x: X, y: number): number {
  const hosts = new Map<string, AttemptRecord[]>();
  const others = new Set(history.obligations.filter((one) => one.recordsOnly).map(({ job }) => job));
  for (const one of history.attempts) {
    if (one.startedAt === null || others.has(one.job)) continue;
    const name = one.node ?? one.owner.slice(0, 8);
    hosts.set(name, [...(hosts.get(name) ?? []), one]);
  }
  const refused = new Set(history.refusals.filter(({ reason }) => reason === "stale").map(claimOf));
  const end = Date.parse(report.endedAt);
  for (const [host, attempts] of [...hosts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const free: number[] = [];
    for (const one of attempts.sort((a, b) => (a.startedAt! < b.startedAt! ? -1 : 1))) {
      const [a, b] = [Date.parse(one.startedAt!), one.endedAt === null ? end : Date.parse(one.endedAt)];
      let lane = free.findIndex((until) => until <= a);
      if (lane < 0) lane = free.length < mostLanes ? free.push(0) - 1 : mostLanes - 1;
      free[lane] = b;
      parts.push(bar(one, x(a), x(b), y + lane * laneHeight, refused.has(claimOf(one))));
    }
    const mark = host === report.target?.host ? "▸ " : "";
    parts.push(
      text(left - 8, y + 10, `${mark}${host}`, { anchor: "end", size: 11, weight: mark ? "bold" : "normal" }),
    );
    y += Math.max(1, free.length) * laneHeight + 8;
  }
  return y;
}

function claimOf(one: { job: string; fireTime: string; shardNo: number; fenceToken: number }): string {
  return `${one.job} ${one.fireTime} ${one.shardNo} ${one.fenceToken}`;
}

function bar(one: AttemptRecord, a: number, b: number, y: number, stale: boolean): string {
  const fill =
    one.status === "success" ? colours.good : one.status === "running" ? colours.open : "url(#hatch)";
  const what = `${one.job} ${one.fireTime} shard ${one.shardNo}, attempt ${one.attempt}: ${one.status}`;
  return (
    `<rect x="${n(a)}" y="${y}" width="${n(Math.max(1.5, b - a))}" height="${laneHeight - 3}" fill="${fill}" stroke="${ink}" stroke-width="0.4"><title>${escapeHtml(what)}</title></rect>` +
    (stale ? cross(b, y + 5) : "")
  );
}

function drawClocks(parts: string[], { clocks }: DrillReport, x: X, y: number): number {
  const names = [...new Set(clocks.map(({ clock }) => clock))].sort();
  const most = Math.max(1_000, ...clocks.map(({ offsetMs }) => Math.abs(offsetMs)));
  const middle = y + clockHeight / 2;
  const at = (offsetMs: number) => middle - (offsetMs / most) * (clockHeight / 2 - 6);
  const scale = most >= 10_000 ? `${Math.round(most / 1_000)} s` : `${Math.round(most)} ms`;
  parts.push(
    text(left - 8, middle + 4, "clocks", { anchor: "end", size: 11 }),
    text(left - 8, y + 12, `+${scale}`, { anchor: "end", size: 9 }),
    text(left - 8, y + clockHeight - 4, `−${scale}`, { anchor: "end", size: 9 }),
    `<line x1="${left}" y1="${n(middle)}" x2="${width - right}" y2="${n(middle)}" stroke="${colours.line}"/>`,
  );
  names.forEach((name, i) => {
    const colour = series[i % series.length]!;
    const points = clocks
      .filter(({ clock }) => clock === name)
      .map((point) => ({ x: x(Date.parse(point.at)), y: at(point.offsetMs) }));
    // A clock is where it was last seen until it is seen elsewhere.
    const line = points.flatMap((point, k) =>
      k === 0
        ? [`${n(point.x)},${n(point.y)}`]
        : [`${n(point.x)},${n(points[k - 1]!.y)}`, `${n(point.x)},${n(point.y)}`],
    );
    parts.push(
      `<polyline points="${line.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.5" stroke-dasharray="${i === 0 ? "none" : `${2 + i * 2} 2`}"/>`,
      text(left + 8 + i * 120, y + clockHeight + 10, name, { size: 10, fill: colour }),
    );
  });
  return y + clockHeight + 18;
}

function axis(from: number, to: number, x: X, y: number): string {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600].find((s) => (to - from) / 1_000 / s <= 14) ?? 1_800;
  const ticks: string[] = [`<line x1="${left}" y1="${y}" x2="${width - right}" y2="${y}" stroke="${ink}"/>`];
  for (let s = 0; s * 1_000 <= to - from; s += step) {
    const at = x(from + s * 1_000);
    ticks.push(
      `<line x1="${n(at)}" y1="${y}" x2="${n(at)}" y2="${y + 4}" stroke="${ink}"/>`,
      text(at, y + 15, `${s} s`, { anchor: "middle", size: 10 }),
    );
  }
  ticks.push(text(16, y + 15, new Date(from).toISOString().slice(0, 19).concat("Z"), { size: 10 }));
  return ticks.join("");
}

function cross(x: number, y: number): string {
  const [a, b] = [n(x - 4), n(x + 4)];
  return `<path d="M${a} ${y - 4}L${b} ${y + 4}M${a} ${y + 4}L${b} ${y - 4}" stroke="${colours.bad}" stroke-width="2"/>`;
}

interface TextStyle {
  readonly size?: number;
  readonly weight?: string;
  readonly anchor?: string;
  readonly fill?: string;
}

function text(x: number, y: number, words: string, style: TextStyle = {}): string {
  const { size = 12, weight = "normal", anchor = "start", fill = ink } = style;
  return `<text x="${n(x)}" y="${n(y)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${escapeHtml(words)}</text>`;
}

/** A coordinate. */
function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
