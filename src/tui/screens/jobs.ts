/** Screen 2: every job, with its last and next fire. */
import { formatDuration } from "../../base/duration.ts";
import type { DefinitionLook } from "../../store/ui/job-slice.ts";
import { type JobEntry, lastFire, nextFireMs } from "../data/job-entry.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, type Span, span, type Tone } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { coarse, count, shortDuration, whenUtc } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { type Rows, remember, type Screen, sorted, visible } from "./screen.ts";
import { signOf, toneOf } from "./status-text.ts";
import { trendSpans } from "./trend.ts";

const noJobs: readonly JobEntry[] = [];

const rowsOf = remember(
  (jobs: readonly JobEntry[], filter: string, sort: ListState["sort"], minute: number): Rows<JobEntry> => {
    const kept = filter === "" ? jobs : jobs.filter((job) => fitsFilter(filterText(job), filter));
    const by = sortValue(sort?.column ?? "name", minute);
    const rows = sorted(kept, by, sort?.descending ?? false);
    return { rows, keys: rows.map(({ jobId }) => String(jobId)) };
  },
);

function filterText(job: JobEntry): string {
  return `${job.label} ${job.state} ${lastFire(job)?.status ?? ""} ${scheduleText(job.definition)} ${job.definition.timeZone}`;
}

function sortValue(column: string, minute: number): (job: JobEntry) => string | number | null {
  switch (column) {
    case "last":
      return (job) => -(lastFire(job)?.fireTime.getTime() ?? Number.NaN) || null;
    case "next":
      return (job) => nextFireMs(job, minute * 60_000);
    case "took":
      return (job) => -(lastFire(job)?.durationMs ?? Number.NaN) || null;
    case "worst":
      return (job) =>
        -job.bins.reduce((sum, bin) => sum + bin.failed + bin.missed + bin.refused, job.unplannedMs.length) ||
        null;
    default:
      return (job) => job.label;
  }
}

export const jobsScreen: Screen<JobEntry> = {
  name: "jobs",
  title: "Jobs",
  rows: (state) => {
    const list = listOf(state, "jobs");
    return rowsOf(
      state.picture.jobs?.value.jobs ?? noJobs,
      list.filter,
      list.sort,
      Math.floor((storeNow(state)?.getTime() ?? 0) / 60_000),
    );
  },
  listHeight: (_, area) => area.height - 3,
  draw: drawJobs,
  reading: ({ picture }) => !picture.jobs?.value.complete,
  open: (_, job) => (job ? { screen: "job", jobId: job.jobId } : null),
  subject: (_, job) => {
    if (!job) return {};
    const last = lastFire(job);
    return {
      job: job.label,
      state: job.state,
      ...(last ? { fire: last.fireTime.toISOString(), status: last.status } : {}),
    };
  },
  command: (_, job) => (job ? ["executions", "--job", job.label] : ["jobs", "list"]),
};

function drawJobs(state: State, area: Area, list: ListState): Line[] {
  const all = state.picture.jobs?.value;
  const rows = jobsScreen.rows(state);
  const inner = area.width - 4;
  const paused = all?.jobs.filter((job) => job.state === "paused").length ?? 0;
  const title = `Jobs ${count(rows.rows.length)}${all && rows.rows.length !== all.jobs.length ? ` of ${count(all.jobs.length)}` : ""}`;
  const note = line(
    span(
      `${all?.complete === false ? "reading… · " : ""}${paused > 0 ? `${paused} paused · ` : ""}last fire UTC, next from now`,
      "muted",
    ),
  );
  const lines = !all
    ? [line(span("reading the jobs…", "muted"))]
    : rows.rows.length === 0
      ? [
          line(
            span(
              list.filter === ""
                ? "no jobs; add some with: escapement jobs apply PATH --reason …"
                : `nothing fits /${list.filter}`,
              "muted",
            ),
          ),
        ]
      : jobLines(state, rows, inner, area.height - 3, list);
  return panel({ title, note, width: area.width, height: area.height, focused: true }, lines);
}

function jobLines(
  state: State,
  rows: Rows<JobEntry>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  const now = storeNow(state) ?? new Date(0);
  const laidOut = layOut(columnsOf(now, list), width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}

function columnsOf(now: Date, list: ListState): TableColumn<JobEntry>[] {
  const nowMs = now.getTime();
  const mark = (column: string) =>
    list.sort?.column === column
      ? { sorted: list.sort.descending ? ("down" as const) : ("up" as const) }
      : {};
  return [
    { title: "", width: 1, cell: signCell },
    { title: "job", width: 16, grows: 3, cell: ({ label }) => label, ...mark("name") },
    { title: "last", width: 11, cell: (job) => lastText(job, now), ...mark("last") },
    {
      title: "result",
      width: 9,
      givesWay: 2,
      cell: (job) => span(lastFire(job)?.status ?? "", toneOf(lastFire(job)?.status ?? "")),
      ...mark("worst"),
    },
    { title: "late", width: 6, align: "right", givesWay: 3, cell: lateCell },
    {
      title: "took",
      width: 6,
      align: "right",
      cell: (job) => durationCell(lastFire(job)?.durationMs ?? null),
      ...mark("took"),
    },
    { title: "next", width: 6, align: "right", cell: (job) => nextCell(job, nowMs), ...mark("next") },
    { title: "24 h", width: 11, givesWay: 5, cell: dayCell },
    { title: "trend", width: 12, cell: ({ fires }) => trendSpans(fires) },
    {
      title: "schedule",
      width: 14,
      grows: 1,
      givesWay: 4,
      cell: ({ definition }) => scheduleText(definition),
    },
    { title: "zone", width: 13, givesWay: 7, cell: ({ definition }) => span(definition.timeZone, "muted") },
    {
      title: "misfire, blocking",
      width: 24,
      grows: 1,
      givesWay: 6,
      cell: ({ definition }) => span(policyText(definition), "muted"),
    },
  ];
}

function signCell(job: JobEntry): Span {
  if (job.state === "paused") return span(signOf("paused"), "warn");
  if (job.problem !== null) return span("?", "bad");
  if (job.unplannedMs.length > 0) return span("!", "bad");
  const status = lastFire(job)?.status;
  return status ? span(signOf(status), toneOf(status)) : span("·", "muted");
}

function lastText(job: JobEntry, now: Date): Span {
  const last = lastFire(job);
  return last ? span(whenUtc(last.fireTime, now)) : span("none in 35 d", "muted");
}

function lateCell(job: JobEntry): Span {
  const late = lastFire(job)?.lateMs ?? null;
  if (late === null) return span("");
  const tone: Tone = late > job.definition.misfire.thresholdMs ? "warn" : "muted";
  return span(shortDuration(late), tone);
}

function durationCell(ms: number | null): Span {
  return span(ms === null ? "" : shortDuration(ms));
}

function nextCell(job: JobEntry, nowMs: number): Span {
  if (job.state === "paused") return span("paused", "warn");
  if (job.problem !== null) return span("?", "bad");
  if (job.definition.schedule.kind === "manual") return span("hand", "muted");
  const next = nextFireMs(job, nowMs);
  return span(next === null ? "never" : coarse(next - nowMs), next === null ? "warn" : "plain");
}

/** Done and wrong of the last day. */
function dayCell({ bins, unplannedMs }: JobEntry): Span[] {
  const done = bins.reduce((sum, bin) => sum + bin.done, 0);
  const wrong = bins.reduce((sum, bin) => sum + bin.failed + bin.missed + bin.refused, unplannedMs.length);
  return [
    span(`✓${count(done)}`, done > 0 ? "good" : "muted"),
    span(wrong > 0 ? ` ✗${count(wrong)}` : "", "bad"),
  ];
}

/** `0 2 * * *`, `every 5m` or `by hand`. */
export function scheduleText({ schedule }: Pick<DefinitionLook, "schedule">): string {
  if (schedule.kind === "cron") return schedule.cron;
  return schedule.kind === "every" ? `every ${formatDuration(schedule.everyMs)}` : "by hand";
}

export function policyText({ misfire, blocking }: DefinitionLook): string {
  return `${misfire.policy} ${formatDuration(misfire.thresholdMs)}, ${blocking.policy}`;
}
