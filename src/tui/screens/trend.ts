/** How long the latest fires took, oldest first; one that went wrong is its sign. */
import type { FireLook } from "../../store/ui/job-slice.ts";
import { sparkline } from "../text/chart.ts";
import { type Span, span } from "../text/line.ts";
import { signOf, toneOf } from "./status-text.ts";

export function trendSpans(fires: readonly FireLook[]): Span[] {
  const ordered = [...fires].reverse();
  const line = [
    ...sparkline(ordered.map(({ status, durationMs }) => (status === "success" ? durationMs : null))),
  ];
  return ordered.map(({ status }, i) =>
    status === "success" ? span(line[i]!, "good") : span(signOf(status), toneOf(status)),
  );
}
