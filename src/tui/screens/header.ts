/** The first line: where we are, whether anything can be changed, the store's time and how old what is shown is. */
import { type State, storeNow, type TopScreen, topScreens } from "../state/state.ts";
import { ends, type Line, line, lineWidth, type Span, span } from "../text/line.ts";
import { clockSecondsUtc, coarse } from "../text/time-text.ts";
import { titleOf } from "./registry.ts";

interface Density {
  readonly brand: boolean;
  /** Blanks around the titles. */
  readonly airy: boolean;
  /** `all`: every title; `own`: of the others their numbers only. */
  readonly titles: "all" | "short" | "shorter" | "own";
  readonly longClock: boolean;
}

/** From the one with most room to the one with least: the first that fits is taken. */
const densities: readonly Density[] = [
  { brand: true, airy: true, titles: "all", longClock: true },
  { brand: false, airy: true, titles: "all", longClock: true },
  { brand: false, airy: false, titles: "all", longClock: true },
  { brand: false, airy: false, titles: "all", longClock: false },
  { brand: false, airy: false, titles: "short", longClock: false },
  { brand: false, airy: false, titles: "shorter", longClock: false },
  { brand: false, airy: false, titles: "own", longClock: false },
];

const shortTitles: Partial<Record<TopScreen, string>> = {
  overview: "Over",
  checklist: "Check",
  capacity: "Cap",
};

const shorterTitles: Partial<Record<TopScreen, string>> = {
  ...shortTitles,
  jobs: "Job",
  hosts: "Host",
  drills: "Drill",
  alerts: "Alert",
};

/** Exactly `width` columns; the two ends never touch. */
export function headerLine(state: State, width: number): Line {
  for (const density of densities) {
    const [left, right] = [line(...leftSpans(state, density)), line(...clockSpans(state, density.longClock))];
    if (lineWidth(left) + 1 + lineWidth(right) <= width || density === densities.at(-1))
      return ends(left, right, width);
  }
  return line();
}

function leftSpans(state: State, { brand, airy, titles }: Density): Span[] {
  const current = state.stack[0]!.screen;
  const tabs = topScreens.flatMap((name, i): Span[] => {
    const open = name === "alerts" ? (state.picture.alerts?.value.length ?? 0) : 0;
    const short = titles === "shorter" ? shorterTitles : shortTitles;
    const full = name === current || titles === "all";
    const title = full ? titleOf(name) : titles === "own" ? "" : (short[name] ?? titleOf(name));
    const text = `${title}${open > 0 ? `(${open})` : ""}`;
    const number = airy ? ` ${i + 1} ` : `${i + 1}`;
    if (name === current) return [span(`${number}${text}${airy ? " " : ""}`, "selected"), span(" ")];
    return [span(number, "key"), span(`${text}${airy ? "  " : " "}`, open > 0 ? "bad" : "plain")];
  });
  const role = state.operator ? span("operator ", "mark") : span("read-only ", "muted");
  return [...(brand ? [span("escapement ", "title")] : []), role, ...tabs];
}

function clockSpans(state: State, long: boolean): Span[] {
  const down = state.store.down !== null;
  const now = storeNow(state);
  if (!now) return [span(down ? "✗ no data" : "asking the store…", down ? "bad" : "muted")];
  const ageMs = state.nowMs - state.picture.cluster!.atMs;
  return [
    span(`${clockSecondsUtc(now)}${long ? " UTC" : "Z"} `, "strong"),
    span(
      `${down ? "✗" : "●"} ${coarse(ageMs)}${long ? " old" : ""}`,
      !down && ageMs < 5_000 ? "good" : "bad",
    ),
  ];
}
