/** A run of a drill on a line: where it has been, where it is, what is to come. */
import type { DrillLook } from "../../store/ui/records-look.ts";
import { type Span, span } from "../text/line.ts";
import { coarse } from "../text/time-text.ts";

const states: readonly DrillLook["state"][] = [
  "preflight",
  "armed",
  "fault",
  "restoring",
  "settling",
  "judging",
];

/** `✓preflight ─ ✓armed ─ ▸fault 12s ─ restoring ─ settling ─ judging`; only the signs where there is no room for the words. */
export function timelineSpans(run: DrillLook, now: Date, width: number): Span[] {
  const current = states.indexOf(run.state);
  const short = width < 50;
  return states.flatMap((state, i): Span[] => {
    const between = i === 0 ? [] : [span(width < 68 ? " " : " ─ ", "muted")];
    if (run.state === "ended" || i < current) return [...between, span(`✓${short ? "" : state}`, "good")];
    if (i > current) return [...between, span(short ? "·" : state, "muted")];
    const since = { fault: run.faultAt, settling: run.restoredAt }[state as string];
    const time = since ? ` ${coarse(now.getTime() - since.getTime())}` : "";
    return [...between, span(`▸ ${state}${time}`, state === "fault" ? "bad" : "busy")];
  });
}

/** The hosts that a run touches, as its row writes them: names, or host, node and part. */
export function targetText({ targets }: Pick<DrillLook, "targets">): string {
  const names = targets.map((one) => {
    if (typeof one === "string") return one;
    const { host, node, part } = (one ?? {}) as { host?: string; node?: string; part?: string };
    return [host ?? "?", part || node ? `(${[part, node].filter(Boolean).join(" ")})` : ""]
      .filter(Boolean)
      .join(" ");
  });
  return names.join(", ") || "no host yet";
}
