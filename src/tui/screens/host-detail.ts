/** The chosen process and its host: health, clock, what is wrong with the hardware, what is not as its profile says. */
import { shellLine } from "../actions/ask.ts";
import type { HostInspection } from "../data/host-inspection.ts";
import { clockTone, type HostRow } from "../data/host-rows.ts";
import type { State } from "../state/state.ts";
import { type Line, line, type Span, span, type Tone } from "../text/line.ts";
import { field } from "../text/panel.ts";
import { coarse, dateTimeUtc, offsetText } from "../text/time-text.ts";
import type { Area } from "./area.ts";

/** With its edges; more of what was found is shown where there is room. */
export function detailHeight({ height }: Area): number {
  return height >= 34 ? 14 : 8;
}

const tones: Record<HostInspection["findings"][number]["severity"], Tone> = {
  critical: "bad",
  warning: "warn",
  info: "plain",
};

/** `✗ 2` of the worst kind there is, `✓`, or nothing where nobody has looked. */
export function findingsSpan({ inspection }: HostRow): Span {
  if (!inspection) return span("");
  if (inspection.factsProblem !== null) return span("? unread", "warn");
  const [worst] = inspection.findings;
  if (!worst)
    return inspection.unjudged > 0 ? span(`✓ ${inspection.unjudged} ?`, "plain") : span("✓", "good");
  const same = inspection.findings.filter(({ severity }) => severity === worst.severity).length;
  const sign = worst.severity === "critical" ? "✗" : worst.severity === "warning" ? "!" : "i";
  return span(`${sign} ${same}`, tones[worst.severity]);
}

export function driftSpan({ inspection }: HostRow): Span {
  if (!inspection || inspection.drift === null) return span("");
  const off = inspection.deviations.filter(({ answer }) => answer === "no").length;
  if (inspection.drift === "yes") return span("✓", "good");
  return inspection.drift === "no" ? span(`✗ ${off}`, "bad") : span("?", "warn");
}

/** Exactly what fits into `room` lines. */
export function detailLines(state: State, row: HostRow | undefined, room: number): Line[] {
  if (!row) return [];
  const label = 8;
  const fixed = [
    field(
      "health",
      line(span(`${row.sign} ${row.health}`, row.tone), span(row.note ? `  ${row.note}` : "", "plain")),
      label,
    ),
    field(
      "host",
      line(
        row.host,
        span(row.pid === null ? "" : `  process ${row.pid}`, "muted"),
        span(row.startedAt ? `, since ${dateTimeUtc(row.startedAt)} UTC` : "", "muted"),
        span(row.version ? `  ${row.version}` : "", "muted"),
      ),
      label,
    ),
    field("clock", clockLine(row), label),
  ];
  const half = Math.floor((room - fixed.length - 1) / 2);
  const lines = [
    ...fixed,
    ...labelled("facts", factsLines(state, row, Math.max(1, half)), label),
    ...labelled("drift", driftLines(state, row, Math.max(1, half)), label),
    field("plan", line(span(planText(state, row), "muted")), label),
  ];
  return lines.slice(0, room);
}

/** The label once, the rest below it. */
function labelled(name: string, lines: readonly Line[], width: number): Line[] {
  return lines.map((one, i) => field(i === 0 ? name : "", one, width));
}

function clockLine(row: HostRow): Line {
  if (row.offsetMs === null) return line(span("not measured", "muted"));
  return line(
    span(offsetText(row.offsetMs), clockTone(row.offsetMs)),
    span(" against the store's clock", "muted"),
    span(row.time ? `; ${row.time}` : "; its time service was not asked", "muted"),
  );
}

/** Why there is nothing to show, or undefined. */
function nothingYet(state: State): Line | undefined {
  if (state.inventory === null)
    return line(span("read from the hosts themselves: start with -i INVENTORY", "muted"));
  const inspection = state.picture.inspection?.value;
  if (!inspection) return line(span("not looked at; i reads it", "muted"));
  if (inspection.running && inspection.hosts.length === 0) return line(span("reading…", "busy"));
  return inspection.problem === null ? undefined : line(span(inspection.problem, "bad"));
}

function age(state: State): Span {
  const inspection = state.picture.inspection;
  if (!inspection) return span("");
  return inspection.value.running
    ? span("  reading again…", "busy")
    : span(`  read ${coarse(Math.max(0, state.nowMs - inspection.atMs))} ago`, "muted");
}

function factsLines(state: State, { inspection, host }: HostRow, room: number): Line[] {
  const nothing = nothingYet(state);
  if (nothing) return [nothing];
  if (!inspection) return [line(span(`${host} is no host of the inventory`, "muted"))];
  if (inspection.factsProblem !== null) return [line(span(`? ${inspection.factsProblem}`, "warn"))];
  const { findings, unjudged } = inspection;
  const left = span(unjudged > 0 ? `  ${unjudged} not judged` : "", "muted");
  if (findings.length === 0) return [line(span("✓ nothing is wrong", "good"), left, age(state))];
  return more(
    findings.map(({ severity, what, action }) =>
      line(
        span(severity === "critical" ? "✗ " : severity === "warning" ? "! " : "i ", tones[severity]),
        span(what),
        span(action ? `; ${action}` : "", "muted"),
      ),
    ),
    room,
    age(state),
  );
}

function driftLines(state: State, { inspection }: HostRow, room: number): Line[] {
  const nothing = nothingYet(state);
  if (nothing || !inspection) return [nothing ?? line(span("-", "muted"))];
  if (inspection.drift === null) return [line(span("it has no profile", "muted"))];
  if (inspection.drift === "yes") return [line(span("✓ as its profile says", "good"))];
  const wrongFirst = [...inspection.deviations].sort(
    (a, b) => Number(a.answer !== "no") - Number(b.answer !== "no"),
  );
  return more(
    wrongFirst.map(({ answer, what }) =>
      line(span(answer === "no" ? "✗ " : "? ", answer === "no" ? "bad" : "warn"), span(what)),
    ),
    room,
    span(""),
  );
}

/** The first ones, and how many there are besides. */
function more(lines: readonly Line[], room: number, tail: Span): Line[] {
  const shown = lines.slice(0, room);
  const rest = lines.length - shown.length;
  const [first, ...others] = shown;
  if (!first) return [];
  const before = rest > 0 ? [span(`${lines.length}: `, "muted")] : [];
  return [line(...before, ...first.spans, tail), ...others];
}

function planText(state: State, { host }: HostRow): string {
  return state.inventory === null
    ? "with -i INVENTORY keys plan and apply what the host should be"
    : shellLine(["escapement", "plan", host, ...state.hostOptions]);
}
