/** A job, opened: what it is, when it fires next, what became of its fires. */
import { formatDuration } from "../../base/duration.ts";
import { formatInstant } from "../../base/instant.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import { formatInZone } from "../../schedule/local-text.ts";
import { zoneOf } from "../../schedule/zone.ts";
import type { ExecutionRow } from "../../store/execution.ts";
import type { JobEntry } from "../data/job-entry.ts";
import { fitsFilter } from "../state/list.ts";
import { currentView, type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { beside, field, panel, shares } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { away, dateTimeUtc, shortDuration } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { policyText, scheduleText } from "./jobs.ts";
import { type Rows, remember, type Screen, sorted, visible } from "./screen.ts";
import { statusSpan } from "./status-text.ts";
import { trendSpans } from "./trend.ts";

const cardHeight = 9;
const none: readonly ExecutionRow[] = [];

const rowsOf = remember(
  (executions: readonly ExecutionRow[], filter: string, sort: ListState["sort"]): Rows<ExecutionRow> => {
    const kept =
      filter === ""
        ? executions
        : executions.filter((one) =>
            fitsFilter(
              `${one.status} ${one.triggerType} ${formatInstant(one.fireTime)} ${one.reason ?? ""} ${one.periodKey ?? ""}`,
              filter,
            ),
          );
    const rows =
      sort?.column === "took"
        ? sorted(kept, (one) => -(one.durationMs ?? Number.NaN) || null, sort.descending)
        : sort?.column === "state"
          ? sorted(kept, ({ status }) => status, sort.descending)
          : kept;
    return { rows, keys: rows.map(({ fireTime }) => String(fireTime.getTime())) };
  },
);

function jobOf(state: State): JobEntry | undefined {
  const view = currentView(state);
  return view.screen === "job" ? state.picture.jobs?.value.byId.get(view.jobId) : undefined;
}

/** Whether its executions are there. */
function isRead(state: State): boolean {
  const view = currentView(state);
  return view.screen === "job" && state.picture.job?.value.jobId === view.jobId;
}

export const jobScreen: Screen<ExecutionRow> = {
  name: "job",
  title: "Job",
  rows: (state) => {
    const list = listOf(state, "job");
    return rowsOf(isRead(state) ? state.picture.job!.value.executions : none, list.filter, list.sort);
  },
  listHeight: (_, area) => area.height - cardHeight - 3,
  draw: drawJob,
  reading: (state) => !isRead(state),
  open: (_, row) => (row ? { screen: "execution", jobId: row.jobId, fireMs: row.fireTime.getTime() } : null),
  subject: (state, row) => {
    const job = jobOf(state);
    return job
      ? {
          job: job.label,
          state: job.state,
          ...(row ? { fire: formatInstant(row.fireTime), status: row.status } : {}),
        }
      : {};
  },
  command: (state, row) => {
    const job = jobOf(state);
    if (!job) return [];
    return row ? ["shards", job.label, formatInstant(row.fireTime)] : ["jobs", "show", job.label];
  },
};

function drawJob(state: State, area: Area, list: ListState): Line[] {
  const job = jobOf(state);
  if (!job)
    return panel({ title: "Job", width: area.width, height: area.height }, [
      line(span("there is no such job any more", "muted")),
    ]);
  const [left = 0, right = 0] = shares(area.width, [55, 45]);
  const rows = jobScreen.rows(state);
  const read = isRead(state);
  const lines = !read
    ? [line(span("reading…", "muted"))]
    : rows.rows.length === 0
      ? [line(span(list.filter ? `nothing fits /${list.filter}` : "no execution in 35 days", "muted"))]
      : executionLines(state, rows, area.width - 4, area.height - cardHeight - 3, list);
  return [
    ...beside(
      panel(
        {
          title: job.label,
          note: line(span(`version ${job.version}`, "muted")),
          width: left,
          height: cardHeight,
        },
        definitionLines(job),
      ),
      panel({ title: "Next", width: right, height: cardHeight }, nextLines(state, job)),
    ),
    ...panel(
      {
        title: `Executions${read ? ` ${rows.rows.length}` : ""}`,
        note: line(span("35 days, newest first, UTC", "muted")),
        width: area.width,
        height: area.height - cardHeight,
        focused: true,
      },
      lines,
    ),
  ];
}

function definitionLines(job: JobEntry): Line[] {
  const { definition } = job;
  const state: Span[] =
    job.state === "paused"
      ? [statusSpan("paused"), span(` ${job.stateReason ?? ""}`, "muted")]
      : job.state === "deleted"
        ? [span("⊘ deleted", "warn"), span(` ${job.stateReason ?? ""}`, "muted")]
        : [span("active", "good")];
  const label = 9;
  return [
    line(span(definition.description ?? "no description", definition.description ? "plain" : "muted")),
    field("state", line(...state), label),
    field("schedule", line(scheduleText(definition), span(`  ${definition.timeZone}`, "muted")), label),
    field("misfire", policyText(definition).split(", ")[0]!, label),
    field(
      "blocking",
      line(
        definition.blocking.policy,
        span(`  catch up ${definition.catchUp.maxFires}, ${definition.catchUp.keep} first`, "muted"),
      ),
      label,
    ),
    field(
      "retry",
      line(
        `${definition.retry.maxAttempts} attempts`,
        span(`  after ${definition.retry.delaysMs.map(formatDuration).join(", ")}`, "muted"),
      ),
      label,
    ),
    field("trend", line(...trendSpans(job.fires)), label),
  ];
}

function nextLines(state: State, job: JobEntry): Line[] {
  const now = storeNow(state);
  if (job.problem !== null) return [line(span(`? ${job.problem}`, "bad"))];
  const schedule = jobSchedule(job.definition);
  if (!now) return [];
  if (job.state === "paused") return [line(span("paused: it does not fire", "warn"))];
  if (job.state === "deleted") return [line(span("deleted: it does not fire", "warn"))];
  if (!schedule) return [line(span("fires by hand only", "muted"))];
  const lines: Line[] = [];
  const zone = zoneOf(job.definition.timeZone);
  for (let at = schedule.next(now.getTime()); at !== null && lines.length < 6; at = schedule.next(at)) {
    lines.push(
      line(
        formatInZone(Math.floor(at / 1_000) * 1_000, zone).replace("T", " "),
        span(`  ${away(new Date(at), now)}`, "muted"),
      ),
    );
  }
  const gaps =
    job.unplannedMs.length > 0
      ? [
          line(
            span(
              `! ${job.unplannedMs.length} fires without a record, the first ${dateTimeUtc(new Date(job.unplannedMs[0]!))} UTC`,
              "bad",
            ),
          ),
        ]
      : [];
  return [...gaps, line(span(`in ${job.definition.timeZone}`, "muted")), ...lines];
}

function executionLines(
  state: State,
  rows: Rows<ExecutionRow>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  const now = storeNow(state) ?? new Date(0);
  const mark = (column: string) =>
    list.sort?.column === column
      ? { sorted: list.sort.descending ? ("down" as const) : ("up" as const) }
      : {};
  const columns: TableColumn<ExecutionRow>[] = [
    { title: "status", width: 13, cell: ({ status }) => statusSpan(status), ...mark("state") },
    { title: "fire time (UTC)", width: 19, cell: ({ fireTime }) => dateTimeUtc(fireTime) },
    { title: "", width: 8, givesWay: 3, cell: ({ fireTime }) => span(away(fireTime, now), "muted") },
    {
      title: "late",
      width: 6,
      align: "right",
      cell: ({ missedSeconds }) =>
        span(missedSeconds === null ? "" : shortDuration(missedSeconds * 1_000), "muted"),
    },
    {
      title: "took",
      width: 6,
      align: "right",
      cell: ({ durationMs }) => (durationMs === null ? "" : shortDuration(durationMs)),
      ...mark("took"),
    },
    { title: "shards", width: 6, align: "right", givesWay: 2, cell: ({ shardCount }) => String(shardCount) },
    {
      title: "run",
      width: 3,
      align: "right",
      givesWay: 4,
      cell: ({ runNo }) => (runNo > 1 ? span(String(runNo), "warn") : span("1", "muted")),
    },
    { title: "trigger", width: 8, givesWay: 5, cell: ({ triggerType }) => span(triggerType, "muted") },
    { title: "period", width: 10, givesWay: 6, cell: ({ periodKey }) => span(periodKey ?? "", "muted") },
    { title: "why", width: 10, grows: 1, givesWay: 1, cell: ({ reason }) => span(reason ?? "", "muted") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}
