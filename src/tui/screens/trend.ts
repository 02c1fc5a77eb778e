/** How long the latest fires took, oldest first; one that went wrong is its sign. */
import type { FireLook } from "../../store/ui/job-slice.ts";
import { sparkline } from "../text/chart.ts";
import { type Span, span } from "../text/line.ts";
import { signOf, toneOf } from "./status-text.ts";

export function trendSpans(fires: readonly FireLook[]): Span[] {
  const ordered = [...fires].reverse();
  const took = ordered.map(({ status, durationMs }) => (status === "success" ? durationMs : null));
  // From half of the shortest on: what is alike looks alike, and what doubles is seen.
  const floor = Math.min(...took.map((ms) => ms ?? Number.POSITIVE_INFINITY)) / 2;
  const bars = [...sparkline(took.map((ms) => (ms === null ? null : ms - floor)))];
  return ordered.map(({ status }, i) =>
    status === "success" ? span(bars[i]!, "trend") : span(signOf(status), toneOf(status)),
  );
}
