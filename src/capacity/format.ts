/** Figures as people read them. */
import type { Figure, Unit } from "./figure.ts";

/** The value with its unit: `1.5 GB`, `32`, `2m49s`, `12 %`. */
export function formatFigure({ value, unit }: Pick<Figure, "value" | "unit">): string {
  return formatValue(value, unit);
}

export function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case "bytes":
      return decimalBytes(value);
    case "bytes/day":
      return `${decimalBytes(value)} a day`;
    case "bytes/row":
      return `${round(value)} B`;
    case "rows/day":
    case "per day":
      return `${grouped(value)} a day`;
    case "per second":
      return `${grouped(value)}/s`;
    case "memory":
      return `${round(value / 2 ** 30)} GiB`;
    case "ms":
      return formatMs(value);
    case "share":
      return `${round(value * 100)} %`;
    case "ratio":
      return `${round(value)} ×`;
    case "watts":
      return `${grouped(value)} W`;
    case "rack units":
      return `${value} U`;
    case "days":
      return `${round(value)} days`;
    default:
      return grouped(value);
  }
}

/** Milliseconds: two units at most. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return "never";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  if (h > 0) return m > 0 ? `${h}h${m}m` : `${h}h`;
  return s > 0 ? `${m}m${s}s` : `${m}m`;
}

/** `1 machine`, `2 machines`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** As drives and bills count: 1 GB is 10⁹ bytes. */
export function decimalBytes(bytes: number): string {
  for (const [unit, scale] of [
    ["TB", 1e12],
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const) {
    if (Math.abs(bytes) >= scale) return `${round(bytes / scale)} ${unit}`;
  }
  return `${Math.round(bytes)} B`;
}

/** Three digits that matter. */
function round(value: number): string {
  const size = Math.abs(value);
  return size >= 100
    ? value.toFixed(0)
    : size >= 10
      ? value.toFixed(1).replace(/\.0$/, "")
      : trimZeros(value.toFixed(2));
}

function grouped(value: number): string {
  return Math.abs(value) < 100 ? round(value) : Math.round(value).toLocaleString("en-US");
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
