/** Screen 1: did everything that should have run, run? If not, what, and why. */
import { formatInstant } from "../../base/instant.ts";
import type { TroubleRow } from "../data/job-entry.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State } from "../state/state.ts";
import { type Line, line, span } from "../text/line.ts";
import { beside, panel, shares } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { clockUtc, count } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { booksLines } from "./overview-books.ts";
import { clusterLines, todayLines } from "./overview-cards.ts";
import { timelineLines } from "./overview-timeline.ts";
import { type Rows, remember, type Screen, visible } from "./screen.ts";
import { statusSpan } from "./status-text.ts";

interface Heights {
  readonly cards: number;
  readonly timeline: number;
  readonly bottom: number;
}

/** With its edges and its head: three rows. */
const leastList = 6;

/** The list gets what is left; the picture grows with the screen, and gives way to the list on a low one. */
function heights({ height }: Area): Heights {
  const chart = Math.max(2, Math.min(8, Math.floor((height - 15) / 4)));
  const cards = 8;
  const timeline = height - cards - (chart + 4) >= leastList ? chart + 4 : 0;
  return { cards, timeline, bottom: Math.max(3, height - cards - timeline) };
}

const noTrouble: readonly TroubleRow[] = [];

const filtered = remember((trouble: readonly TroubleRow[], filter: string): Rows<TroubleRow> => {
  const rows =
    filter === ""
      ? trouble
      : trouble.filter((one) => fitsFilter(`${one.label} ${one.status} ${one.reason}`, filter));
  return { rows, keys: rows.map(({ jobId, fireMs }) => `${jobId} ${fireMs}`) };
});

export const overviewScreen: Screen<TroubleRow> = {
  name: "overview",
  title: "Overview",
  rows: (state) => filtered(state.picture.jobs?.value.trouble ?? noTrouble, listOf(state, "overview").filter),
  listHeight: (_, area) => heights(area).bottom - 3,
  draw: drawOverview,
  reading: ({ picture }) => !picture.jobs?.value.complete,
  open: (_, row) =>
    !row
      ? null
      : row.status === "no record"
        ? { screen: "job", jobId: row.jobId }
        : { screen: "execution", jobId: row.jobId, fireMs: row.fireMs },
  subject: (_, row) =>
    row ? { job: row.label, fire: formatInstant(new Date(row.fireMs)), status: row.status } : {},
  command: (_, row) => (row ? ["explain-fire", row.label, formatInstant(new Date(row.fireMs))] : ["status"]),
};

function drawOverview(state: State, area: Area, list: ListState): Line[] {
  const { cards, timeline, bottom } = heights(area);
  const [left = 0, right = 0] = shares(area.width, [48, 52]);
  const [wide = 0, narrow = 0] =
    area.width >= 120 ? shares(area.width, [68, 32]) : shares(area.width, [63, 37]);
  const note = line(span("UTC", "muted"));
  return [
    ...beside(
      panel({ title: "Today", note, width: left, height: cards }, todayLines(state, left - 4)),
      panel({ title: "Cluster", width: right, height: cards }, clusterLines(state, right - 4)),
    ),
    ...(timeline === 0
      ? []
      : panel(
          { title: "Fires of the last 24 h", note, width: area.width, height: timeline },
          timelineLines(state, area.width - 4, timeline - 4),
        )),
    ...beside(
      panel(
        {
          title: troubleTitle(state),
          note: line(span("24 h, newest first", "muted")),
          width: wide,
          height: bottom,
          focused: true,
        },
        troubleLines(state, wide - 4, bottom - 3, list),
      ),
      panel(
        {
          title: narrow > 36 ? "Alerts · Drills · Checklist" : "Alerts and drills",
          width: narrow,
          height: bottom,
        },
        booksLines(state, narrow - 4, bottom - 2),
      ),
    ),
  ];
}

/** Of each job the newest are listed; the title does not hide that there are more. */
function troubleTitle({ picture: { jobs } }: State): string {
  if (!jobs) return "Went wrong";
  const { timeline, trouble } = jobs.value;
  const all = timeline.reduce(
    (sum, { failed, missed, refused, unplanned }) => sum + failed + missed + refused + unplanned,
    0,
  );
  const listed = trouble.length;
  if (listed === 0) return "Went wrong";
  return `Went wrong: ${all > listed ? `${count(listed)} of ${count(all)}` : count(listed)}`;
}

function troubleLines(state: State, width: number, height: number, list: ListState): Line[] {
  const jobs = state.picture.jobs;
  if (!jobs) return [line(span("reading the jobs…", "muted"))];
  const rows = overviewScreen.rows(state);
  if (rows.rows.length === 0) {
    if (list.filter !== "") return [line(span(`nothing fits /${list.filter}`, "muted"))];
    if (!jobs.value.complete) return [line(span("nothing so far; still reading…", "muted"))];
    return [line(span("✓ ", "good"), "everything that should have run in 24 hours has run")];
  }
  const columns: TableColumn<TroubleRow>[] = [
    { title: "what", width: 11, cell: ({ status }) => statusSpan(status) },
    // Of 24 hours: the time alone tells which one it was.
    { title: "fire", width: 5, cell: ({ fireMs }) => clockUtc(new Date(fireMs)) },
    // One column more, and at 80 of them there is no room for the reason.
    { title: "job", width: 13, grows: 1, cell: ({ label }) => label },
    { title: "why", width: 8, grows: 3, givesWay: 1, cell: ({ reason }) => span(reason, "muted") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}
