/** Charts as SVG text: bars and areas with axes, readable without colour. */
import { escapeHtml } from "./html.ts";

export interface Series {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly number[];
}

export interface Chart {
  readonly title: string;
  /** One for each value. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** Writes a value for the axis. */
  format(value: number): string;
  /** Horizontal lines with a name, such as the disk that is ordered. */
  readonly marks?: readonly { readonly value: number; readonly name: string }[];
  /** Steps an axis may have, in rising order, for values that are not counted by ten. */
  readonly steps?: readonly number[];
  /** Axis of powers of ten, for values that lie far apart. */
  readonly logarithmic?: boolean;
}

const width = 760;
const height = 300;
const margin = { top: 34, right: 20, bottom: 40, left: 76 };
const plotWidth = width - margin.left - margin.right;
const plotHeight = height - margin.top - margin.bottom;

/** Groups of bars, one group for each label. */
export function barChart(chart: Chart): string {
  const scale = scaleOf(chart);
  const step = plotWidth / chart.labels.length;
  const bar = Math.min(46, (step * 0.7) / chart.series.length);
  const bars = chart.series.flatMap((series, s) =>
    series.values.map((value, i) => {
      const x = margin.left + step * i + (step - bar * chart.series.length) / 2 + bar * s;
      const y = scale.y(value);
      const top = `<text x="${n(x + bar / 2)}" y="${n(y - 4)}" text-anchor="middle" fill="#1c2733" font-size="11">${escapeHtml(chart.format(value))}</text>`;
      return `<rect x="${n(x + 1)}" y="${n(y)}" width="${n(bar - 2)}" height="${n(margin.top + plotHeight - y)}" fill="${series.colour}"/>${top}`;
    }),
  );
  return frame(chart, scale, bars.join(""), (i) => margin.left + step * (i + 0.5));
}

/** One area for each series, in front of each other. */
export function areaChart(chart: Chart): string {
  const scale = scaleOf(chart);
  const last = Math.max(1, chart.labels.length - 1);
  const x = (i: number) => margin.left + (plotWidth * i) / last;
  const areas = chart.series.map(({ values, colour }) => {
    const points = values.map((value, i) => `${n(x(i))},${n(scale.y(value))}`).join(" ");
    const base = margin.top + plotHeight;
    return `<polygon points="${n(x(0))},${base} ${points} ${n(x(values.length - 1))},${base}" fill="${colour}" fill-opacity="0.25"/><polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  });
  return frame(chart, scale, areas.join(""), x);
}

interface Scale {
  readonly ticks: readonly number[];
  y(value: number): number;
}

function scaleOf({ series, marks = [], steps = [], logarithmic }: Chart): Scale {
  const all = [...series.flatMap(({ values }) => values), ...marks.map(({ value }) => value)].filter(
    Number.isFinite,
  );
  const most = Math.max(...all, 1e-9);
  const bottom = margin.top + plotHeight;
  if (logarithmic) {
    const low = Math.floor(Math.log10(Math.max(1e-3, Math.min(...all.filter((value) => value > 0), 1))));
    const high = Math.ceil(Math.log10(most) + 0.05);
    const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    return {
      ticks,
      y: (value) =>
        bottom - (plotHeight * (Math.log10(Math.max(10 ** low, value)) - low)) / Math.max(1, high - low),
    };
  }
  const step = steps.find((one) => one >= most / 5) ?? niceStep(most / 5);
  const top = Math.ceil((most * 1.08) / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return { ticks, y: (value) => bottom - (plotHeight * value) / top };
}

function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw) ?? 10);
}

function frame(chart: Chart, scale: Scale, content: string, x: (i: number) => number): string {
  const bottom = margin.top + plotHeight;
  const right = margin.left + plotWidth;
  const grid = scale.ticks.map((tick) => {
    const y = n(scale.y(tick));
    return `<line x1="${margin.left}" y1="${y}" x2="${right}" y2="${y}" stroke="#e3e8ef"/><text x="${margin.left - 8}" y="${n(scale.y(tick) + 4)}" text-anchor="end" fill="#5a6573">${escapeHtml(chart.format(tick))}</text>`;
  });
  const every = Math.ceil(chart.labels.length / 16);
  const labels = chart.labels.map((label, i) =>
    i % every === 0
      ? `<text x="${n(x(i))}" y="${bottom + 18}" text-anchor="middle" fill="#5a6573">${escapeHtml(label)}</text>`
      : "",
  );
  const marks = (chart.marks ?? []).map(({ value, name }) => {
    const y = scale.y(value);
    return `<line x1="${margin.left}" y1="${n(y)}" x2="${right}" y2="${n(y)}" stroke="#a33a2c" stroke-width="1.5" stroke-dasharray="6 4"/><text x="${right}" y="${n(y - 5)}" text-anchor="end" fill="#a33a2c">${escapeHtml(name)}</text>`;
  });
  let at = margin.left;
  const legend = chart.series.map(({ name, colour }) => {
    const entry = `<rect x="${n(at)}" y="9" width="11" height="11" fill="${colour}"/><text x="${n(at + 16)}" y="19" fill="#1c2733">${escapeHtml(name)}</text>`;
    at += 34 + name.length * 7;
    return entry;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(chart.title)}">${grid.join("")}${content}${marks.join("")}<line x1="${margin.left}" y1="${bottom}" x2="${right}" y2="${bottom}" stroke="#8a97ab"/>${labels.join("")}${legend.join("")}</svg>`;
}

/** A coordinate, to a tenth of a pixel. */
function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
