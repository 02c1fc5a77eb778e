/** Small pictures made of characters: sparklines, bars, and columns in several lines. */
import { type Line, line, type Span, span, type Tone } from "./line.ts";

const eighths = "▁▂▃▄▅▆▇█";

/** One character a value, scaled to the largest; null is a gap. */
export function sparkline(values: readonly (number | null)[]): string {
  const largest = Math.max(...values.map((value) => value ?? 0), 0);
  return values
    .map((value) => {
      if (value === null) return " ";
      if (largest === 0) return eighths[0];
      return eighths[Math.min(7, Math.max(0, Math.round((value / largest) * 7)))];
    })
    .join("");
}

/** A bar of exactly `width` columns: a part of one, in parts of different tones, the rest empty. */
export function bar(
  parts: readonly { readonly share: number; readonly tone: Tone }[],
  width: number,
): Span[] {
  const spans: Span[] = [];
  let used = 0;
  for (const { share, tone } of parts) {
    if (!(share > 0)) continue;
    // What exists is seen, however small.
    const size = Math.min(width - used, Math.max(1, Math.round(share * width)));
    if (size > 0) spans.push(span("█".repeat(size), tone));
    used += size;
  }
  if (used < width) spans.push(span("░".repeat(width - used), "muted"));
  return spans;
}

export interface Column {
  readonly value: number;
  readonly tone: Tone;
}

/** Columns of `height` lines, one character wide each, scaled to the largest. What is above zero shows. */
export function columns(values: readonly Column[], height: number): Line[] {
  const largest = Math.max(...values.map(({ value }) => value), 1);
  return Array.from({ length: height }, (_, fromTop) => {
    const floor = (height - 1 - fromTop) * 8;
    const spans: Span[] = [];
    for (const { value, tone } of values) {
      const filled = value <= 0 ? 0 : Math.max(1, Math.round((value / largest) * height * 8)) - floor;
      const char = filled <= 0 ? " " : (eighths[Math.min(8, filled) - 1] ?? " ");
      const last = spans.at(-1);
      if (last && last.tone === tone) spans[spans.length - 1] = span(last.text + char, tone);
      else spans.push(span(char, tone));
    }
    return line(...spans);
  });
}
