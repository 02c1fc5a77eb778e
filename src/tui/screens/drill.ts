/** One run of a drill, opened: its times on a line, its verdict and the counts behind it. */
import type { DrillLook } from "../../store/ui/records-look.ts";
import { currentView, type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { emptyLine, type Line, line, span, wrap } from "../text/line.ts";
import { field, panel } from "../text/panel.ts";
import { dateTimeUtc, shortDuration } from "../text/time-text.ts";
import { targetText, timelineSpans } from "./drill-timeline.ts";
import type { Area, Rows, Screen } from "./screen.ts";
import { statusSpan } from "./status-text.ts";

/** Its lines are its rows, so that long ones can be scrolled. */
export const drillScreen: Screen<string> = {
  name: "drill",
  title: "Drill",
  rows: (state) => lineKeys(drillLines(state, 100).length),
  listHeight: (_, area) => area.height - 2,
  draw: drawDrill,
  open: () => null,
  subject: (state) => {
    const run = runOf(state);
    return run ? { cluster: "the cluster", drill: run.drill } : { cluster: "the cluster" };
  },
  command: (state) => (runOf(state)?.endedAt === null ? ["drill", "status"] : ["drill", "history"]),
};

export function lineKeys(count: number): Rows<string> {
  const keys = Array.from({ length: count }, (_, i) => String(i));
  return { rows: keys, keys };
}

function runOf(state: State): DrillLook | undefined {
  const view = currentView(state);
  return view.screen === "drill"
    ? state.picture.drills?.value.runs.find(({ runId }) => runId === view.runId)
    : undefined;
}

function drawDrill(state: State, area: Area): Line[] {
  const run = runOf(state);
  const lines = drillLines(state, area.width - 4);
  const list: ListState = listOf(state, "drill");
  return panel(
    {
      title: run ? `${run.drill}, run ${run.runId.slice(0, 8)}` : "Drill",
      note: line(span("UTC", "muted")),
      width: area.width,
      height: area.height,
      focused: true,
    },
    lines.slice(list.top),
  );
}

function drillLines(state: State, width: number): Line[] {
  const run = runOf(state);
  const now = storeNow(state);
  if (!run || !now) return [line(span("this run is not among the latest hundred", "muted"))];
  const label = 10;
  const at = (date: Date | null, from: Date | null) =>
    date
      ? line(
          dateTimeUtc(date),
          span(from ? `  +${shortDuration(date.getTime() - from.getTime())}` : "", "muted"),
        )
      : line(span("-", "muted"));
  const summary = run.summary
    ? Object.entries(run.summary).map(([name, value]) =>
        field(name.slice(0, 24), typeof value === "object" ? JSON.stringify(value) : String(value), 24),
      )
    : [];
  return [
    field("verdict", line(run.verdict ? statusSpan(run.verdict) : span(`▸ ${run.state}`, "busy")), label),
    ...wrap(run.reason ?? "no verdict yet", width - label - 1).map((text, i) =>
      field(i === 0 ? "why" : "", text, label),
    ),
    emptyLine,
    line(...timelineSpans(run, now, width)),
    emptyLine,
    field("class", run.class, label),
    field("hosts", targetText(run), label),
    field(
      "by",
      `${run.person}, ${run.trigger === "schedule" ? "on the timetable" : "by hand"}; controller ${run.controller}`,
      label,
    ),
    field("began", at(run.startedAt, null), label),
    field("fault", at(run.faultAt, run.startedAt), label),
    field("restored", at(run.restoredAt, run.faultAt), label),
    field("ended", at(run.endedAt, run.restoredAt), label),
    ...(run.abortRequestedAt ? [field("aborted", line(span(run.abortReason ?? "", "warn")), label)] : []),
    ...(summary.length > 0 ? [emptyLine, line(span("What it counted", "title")), ...summary] : []),
  ];
}
