/** One run of a drill, opened: its times on a line, its verdict and the counts behind it. */
import type { DrillLook } from "../../store/ui/records-look.ts";
import { currentView, listOf, type State, storeNow } from "../state/state.ts";
import { emptyLine, type Line, line, span, wrap } from "../text/line.ts";
import { field, panel } from "../text/panel.ts";
import { dateTimeUtc, shortDuration } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { targetText, timelineSpans } from "./drill-timeline.ts";
import type { Screen } from "./screen.ts";
import { inSight, scrolled } from "./scrolled.ts";
import { statusSpan } from "./status-text.ts";

export const drillScreen: Screen<string> = {
  ...scrolled(drillLines),
  name: "drill",
  title: "Drill",
  draw: drawDrill,
  subject: (state) => {
    const run = runOf(state);
    return run ? { cluster: "the cluster", drill: run.drill } : { cluster: "the cluster" };
  },
  command: (state) => (runOf(state)?.endedAt === null ? ["drill", "status"] : ["drill", "history"]),
};

function runOf(state: State): DrillLook | undefined {
  const view = currentView(state);
  return view.screen === "drill"
    ? state.picture.drills?.value.runs.find(({ runId }) => runId === view.runId)
    : undefined;
}

function drawDrill(state: State, area: Area): Line[] {
  const run = runOf(state);
  const { shown, more } = inSight(drillLines(state, area.width - 4), listOf(state, "drill"), area);
  return panel(
    {
      title: run ? `${run.drill}, run ${run.runId.slice(0, 8)}` : "Drill",
      note: line(span(more > 0 ? `${more} more lines below · UTC` : "UTC", "muted")),
      width: area.width,
      height: area.height,
      focused: true,
    },
    shown,
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
