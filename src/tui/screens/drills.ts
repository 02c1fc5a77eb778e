/** Screen 4: when which drill is due, what came of the latest ones, and the one that is on. */
import type { DrillLook } from "../../store/ui/records-look.ts";
import type { JobEntry } from "../data/job-entry.ts";
import { nextFireMs } from "../data/job-entry.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { beside, panel, shares } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { away, coarse, dateTimeUtc } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { targetText, timelineSpans } from "./drill-timeline.ts";
import { type Rows, remember, type Screen, sorted, visible } from "./screen.ts";
import { statusSpan } from "./status-text.ts";

const none: readonly DrillLook[] = [];
const noJobs: readonly JobEntry[] = [];

const rowsOf = remember(
  (runs: readonly DrillLook[], filter: string, sort: ListState["sort"]): Rows<DrillLook> => {
    const kept =
      filter === ""
        ? runs
        : runs.filter((one) =>
            fitsFilter(
              `${one.drill} ${one.class} ${one.verdict ?? one.state} ${one.person} ${one.reason ?? ""}`,
              filter,
            ),
          );
    const rows = sort ? sorted(kept, ({ startedAt }) => startedAt.getTime(), sort.descending) : kept;
    return { rows, keys: rows.map(({ runId }) => runId) };
  },
);

/** Drills on the timetable are jobs of the class that only the watchman's host runs. */
const timetable = remember((jobs: readonly JobEntry[]) =>
  jobs.filter(({ definition }) => definition.resources?.class === "control"),
);

export const drillsScreen: Screen<DrillLook> = {
  name: "drills",
  title: "Drills",
  rows: (state) => {
    const list = listOf(state, "drills");
    return rowsOf(state.picture.drills?.value.runs ?? none, list.filter, list.sort);
  },
  listHeight: (_, area) => area.height - topHeight(area) - 3,
  draw: drawDrills,
  reading: ({ picture }) => !picture.drills,
  open: (_, run) => (run ? { screen: "drill", runId: run.runId } : null),
  subject: (state, run) => ({
    cluster: "the cluster",
    ...(run ? { drill: run.drill } : {}),
    ...(state.picture.drills?.value.halt ? { halted: state.picture.drills.value.halt.person } : {}),
  }),
  command: () => ["drill", "history"],
};

function topHeight(area: Area): number {
  return Math.max(7, Math.min(12, Math.floor(area.height / 3)));
}

function drawDrills(state: State, area: Area, list: ListState): Line[] {
  const top = topHeight(area);
  const [left = 0, right = 0] = shares(area.width, [55, 45]);
  const rows = drillsScreen.rows(state);
  const height = area.height - top;
  const lines = !state.picture.drills
    ? [line(span("reading…", "muted"))]
    : rows.rows.length === 0
      ? [
          line(
            span(
              list.filter
                ? `nothing fits /${list.filter}`
                : "no drill has ever run; escapement drill list shows what there is",
              "muted",
            ),
          ),
        ]
      : runLines(state, rows, area.width - 4, height - 3, list);
  return [
    ...beside(
      panel({ title: "Now", width: left, height: top }, nowLines(state, left - 4)),
      panel(
        { title: "Timetable", note: line(span("UTC", "muted")), width: right, height: top },
        timetableLines(state),
      ),
    ),
    ...panel(
      {
        title: `Runs ${rows.rows.length}`,
        note: line(span("newest first, UTC", "muted")),
        width: area.width,
        height,
        focused: true,
      },
      lines,
    ),
  ];
}

function nowLines(state: State, width: number): Line[] {
  const drills = state.picture.drills?.value;
  const now = storeNow(state);
  if (!drills || !now) return [line(span("reading…", "muted"))];
  const halt = drills.halt
    ? [
        line(
          span("⊘ halted ", "warn"),
          span(`by ${drills.halt.person} ${away(drills.halt.at, now)}: ${drills.halt.reason}`, "muted"),
        ),
        line(span("no drill starts until escapement drill resume", "muted")),
      ]
    : [];
  const run = drills.runs.find(({ endedAt }) => endedAt === null);
  if (!run) return [...halt, line(span("no drill is on", "muted"))];
  const silent =
    run.leaseLeftMs < 0
      ? [
          line(
            span(
              `✗ its controller is silent for ${coarse(-run.leaseLeftMs)}; the host restores itself`,
              "bad",
            ),
          ),
        ]
      : [];
  return [
    line(
      span(`▸ ${run.drill}`, "busy"),
      span(
        `  ${run.class}, by ${run.trigger === "schedule" ? "the timetable" : run.person}, for ${coarse(now.getTime() - run.startedAt.getTime())}`,
        "muted",
      ),
    ),
    line(...timelineSpans(run, now, width)),
    line(span("on ", "muted"), targetText(run)),
    ...(run.abortRequestedAt ? [line(span(`asked to end: ${run.abortReason ?? ""}`, "warn"))] : []),
    ...silent,
    ...halt,
    line(span("H", "key"), span(" halts it: the host restores at once", "muted")),
  ];
}

function timetableLines(state: State): Line[] {
  const now = storeNow(state);
  if (!now) return [];
  const jobs = timetable(state.picture.jobs?.value.jobs ?? noJobs);
  if (jobs.length === 0)
    return [
      line(span("no drill is on a timetable", "warn")),
      line(span("escapement drill schedule apply FILE", "muted")),
    ];
  return jobs
    .map((job) => ({ job, next: nextFireMs(job, now.getTime()) }))
    .sort((a, b) => (a.next ?? Number.POSITIVE_INFINITY) - (b.next ?? Number.POSITIVE_INFINITY))
    .map(({ job, next }) =>
      line(
        next === null
          ? span(job.state === "paused" ? "paused           " : "never            ", "warn")
          : dateTimeUtc(new Date(next)).slice(0, 16),
        span(`  ${job.label}`, "strong"),
        span(next === null ? "" : `  ${away(new Date(next), now)}`, "muted"),
      ),
    );
}

function runLines(
  state: State,
  rows: Rows<DrillLook>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  const now = storeNow(state) ?? new Date(0);
  const columns: TableColumn<DrillLook>[] = [
    { title: "verdict", width: 11, cell: verdictCell },
    { title: "drill", width: 14, grows: 1, cell: ({ drill }) => drill },
    { title: "class", width: 16, givesWay: 2, cell: (run) => span(run.class, "muted") },
    { title: "began", width: 16, cell: ({ startedAt }) => dateTimeUtc(startedAt).slice(0, 16) },
    { title: "", width: 7, givesWay: 3, cell: ({ startedAt }) => span(away(startedAt, now), "muted") },
    { title: "fault", width: 6, align: "right", cell: (run) => faultCell(run) },
    {
      title: "by",
      width: 10,
      givesWay: 4,
      cell: ({ person, trigger }) => span(trigger === "schedule" ? "timetable" : person, "muted"),
    },
    { title: "why", width: 10, grows: 3, givesWay: 1, cell: ({ reason }) => span(reason ?? "", "muted") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}

function verdictCell({ verdict, state }: DrillLook): Span {
  return verdict ? statusSpan(verdict) : span(`▸ ${state}`, "busy");
}

/** How long the fault lasted. */
function faultCell({ faultAt, restoredAt }: DrillLook): Span {
  if (!faultAt) return span("none", "muted");
  return restoredAt ? span(coarse(restoredAt.getTime() - faultAt.getTime())) : span("on", "bad");
}
