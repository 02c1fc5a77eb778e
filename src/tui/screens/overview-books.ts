/** What the three books of the overview say: alerts, drills, and the checklist's score. */
import { unnamedJobOf } from "../data/alert-job.ts";
import { itemsOf, scoreOf } from "../data/checklist-items.ts";
import { latestOfClasses } from "../data/drill-history.ts";
import { type State, storeNow } from "../state/state.ts";
import { type Line, line, pad, span, type Tone } from "../text/line.ts";
import { away, coarse } from "../text/time-text.ts";
import { signOf, toneOf } from "./status-text.ts";

const waiting: Line = line(span("…", "muted"));

/** Alerts, the latest drill of each class, and the checklist's score, in as many lines as there are. */
export function booksLines(state: State, width: number, height: number): Line[] {
  const now = storeNow(state);
  if (!now) return [waiting];
  const alerts = alertLines(state, width, now);
  const drills = drillLines(state, now);
  const checklist = checklistLine(state, now);
  const room = Math.max(0, height - 1);
  // Both get half; what one does not need the other has.
  const half = Math.floor(room / 2);
  const alertRoom = Math.min(alerts.length, Math.max(half, room - drills.length));
  return [...alerts.slice(0, alertRoom), ...drills.slice(0, room - alertRoom), checklist];
}

function alertLines(state: State, width: number, now: Date): Line[] {
  const alerts = state.picture.alerts?.value;
  if (!alerts) return [waiting];
  if (alerts.length === 0) return [line(span("✓ ", "good"), "no open alert")];
  const of = (severity: string) => alerts.filter((one) => one.severity === severity).length;
  const summary = line(
    span(`${of("critical")} critical`, of("critical") > 0 ? "bad" : "muted"),
    span("  "),
    span(`${of("warning")} warning`, of("warning") > 0 ? "warn" : "muted"),
    span(`  ${of("info")} info`, "muted"),
  );
  return [
    summary,
    ...alerts.map(({ severity, message, firstAt, job }) => {
      const label = unnamedJobOf({ job, message });
      const tone: Tone = severity === "critical" ? "bad" : severity === "warning" ? "warn" : "muted";
      return line(
        span(severity === "critical" ? "✗ " : "! ", tone),
        span(pad(label === null ? message : `${label}: ${message}`, Math.max(8, width - 7))),
        span(` ${coarse(now.getTime() - firstAt.getTime())}`, "muted"),
      );
    }),
  ];
}

function drillLines(state: State, now: Date): Line[] {
  const drills = state.picture.drills?.value;
  if (!drills) return [waiting];
  const halted = drills.halt
    ? [line(span("⊘ drills are halted", "warn"), span(` by ${drills.halt.person}`, "muted"))]
    : [];
  const latest = latestOfClasses(drills.runs);
  if (latest.length === 0) return [...halted, line(span("? no drill has ever run", "warn"))];
  return [
    ...halted,
    ...latest.map((run) => {
      const result = run.verdict ?? "running";
      return line(
        span(`${signOf(result)} `, toneOf(result)),
        span(`${run.class} `),
        span(
          run.verdict ? `${result} ${away(run.startedAt, now)}` : `${run.state} now`,
          run.verdict ? "muted" : "busy",
        ),
      );
    }),
  ];
}

function checklistLine(state: State, now: Date): Line {
  const runs = state.picture.checklists?.value;
  if (!runs) return waiting;
  const latest = runs[0];
  if (!latest) return line(span("? the checklist has never run", "warn"));
  const { passed, asked } = scoreOf(itemsOf(latest.items));
  return line(
    span(`${signOf(latest.outcome)} `, toneOf(latest.outcome)),
    span(`checklist ${passed} of ${asked}`, "strong"),
    span(`  ${away(latest.at, now)}`, "muted"),
  );
}
