/** Screen 7: how large the records are, how fast they grow, and when the disk is full. */
import { formatBytes } from "../../base/bytes.ts";
import { type CapacityView, capacityOf } from "../data/capacity-view.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { bar } from "../text/chart.ts";
import { type Line, line, pad, span, type Tone } from "../text/line.ts";
import { beside, field, panel, shares } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { away, count } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { type Rows, remember, type Screen, visible } from "./screen.ts";

type Month = CapacityView["months"][number];

const cardHeight = 10;
const viewOf = remember(capacityOf);
const noRows: Rows<Month> = { rows: [], keys: [] };
const rowsOf = remember(
  (view: CapacityView): Rows<Month> => ({ rows: view.months, keys: view.months.map(({ month }) => month) }),
);

function capacity(state: State): CapacityView | undefined {
  const size = state.picture.size?.value;
  const jobs = state.picture.jobs?.value;
  // Rounded to the hour: a figure that changes by the second is read by nobody.
  const hour = Math.floor((storeNow(state)?.getTime() ?? 0) / 3_600_000);
  return size && viewOf(size, jobs?.complete ? jobs.timeline : undefined, hour);
}

export const capacityScreen: Screen<Month> = {
  name: "capacity",
  title: "Capacity",
  rows: (state) => {
    const view = capacity(state);
    return view ? rowsOf(view) : noRows;
  },
  listHeight: (_, area) => Math.max(1, area.height - cardHeight - 3),
  draw: drawCapacity,
  open: () => null,
  subject: () => ({ cluster: "the cluster" }),
  command: () => ["capacity", "storage"],
};

function drawCapacity(state: State, area: Area, list: ListState): Line[] {
  const view = capacity(state);
  const [left = 0, right = 0] = shares(area.width, [50, 50]);
  const reading = [line(span("reading…", "muted"))];
  const now = storeNow(state) ?? new Date(0);
  return [
    ...beside(
      panel(
        { title: "Records: forecast against measured", width: left, height: cardHeight },
        view ? growthLines(view) : reading,
      ),
      panel(
        { title: "Room", width: right, height: cardHeight },
        view ? roomLines(view, right - 4, now) : reading,
      ),
    ),
    ...panel(
      {
        title: "Months",
        note: line(span("records and their indexes, kept and then dropped whole", "muted")),
        width: area.width,
        height: area.height - cardHeight,
        focused: true,
      },
      view
        ? monthLines(
            capacityScreen.rows(state),
            area.width - 4,
            area.height - cardHeight - 3,
            listOf(state, "capacity") ?? list,
          )
        : reading,
    ),
  ];
}

function perDay(bytes: number | null): string {
  return bytes === null ? "unknown" : `${formatBytes(bytes)} a day`;
}

function growthLines(view: CapacityView): Line[] {
  const label = 9;
  const { measuredPerDay, forecastPerDay, difference } = view;
  const tone: Tone = difference === null ? "muted" : Math.abs(difference) > 0.3 ? "warn" : "good";
  return [
    field(
      "store",
      line(
        span(formatBytes(view.databaseBytes), "strong"),
        span(`  records ${formatBytes(view.recordBytes)}`, "muted"),
      ),
      label,
    ),
    field(
      "measured",
      line(span(perDay(measuredPerDay), "strong"), span(`  ${view.measuredFrom}`, "muted")),
      label,
    ),
    field(
      "forecast",
      line(span(perDay(forecastPerDay), "strong"), span(`  ${view.forecastFrom}`, "muted")),
      label,
    ),
    field(
      "",
      difference === null
        ? line(span("? no comparison yet", "muted"))
        : line(
            span(
              `measured is ${Math.abs(Math.round(difference * 100))} % ${difference < 0 ? "below" : "above"} the forecast`,
              tone,
            ),
          ),
      label,
    ),
    field(
      "fires",
      line(
        view.firesPerDay === null ? span("unknown", "muted") : span(count(view.firesPerDay), "strong"),
        span(" in the last 24 h", "muted"),
      ),
      label,
    ),
    field(
      "kept",
      line(
        `${view.retentionMonths} months`,
        span(view.keptBytes === null ? "" : `  come to ${formatBytes(view.keptBytes)}`, "muted"),
      ),
      label,
    ),
  ];
}

function roomLines(view: CapacityView, width: number, now: Date): Line[] {
  if (view.disks.length === 0) {
    return [
      line(span("? nobody has measured the store's disks", "warn")),
      line(span("the timer of the role record-store writes them down", "muted")),
    ];
  }
  return view.disks.flatMap((disk) => {
    const used = 1 - disk.freeBytes / disk.totalBytes;
    const tone: Tone = disk.daysLeft !== null && disk.daysLeft < 30 ? "bad" : used > 0.8 ? "warn" : "good";
    const days =
      disk.daysLeft === null
        ? ""
        : disk.daysLeft > 3_650
          ? "  full in more than 10 years"
          : `  full in ${count(disk.daysLeft)} days`;
    return [
      line(
        span(`${disk.host} `, "strong"),
        disk.path,
        span(
          `  measured ${away(disk.at, now)}`,
          now.getTime() - disk.at.getTime() > 3_600_000 ? "warn" : "muted",
        ),
      ),
      line(
        ...bar([{ share: used, tone }], Math.max(10, width - 8)),
        span(pad(`${Math.round(used * 100)} %`, 7, "right"), tone),
      ),
      line(
        span(`${formatBytes(disk.freeBytes)} free of ${formatBytes(disk.totalBytes)}`, "muted"),
        span(days, tone),
      ),
    ];
  });
}

function monthLines(rows: Rows<Month>, width: number, height: number, list: ListState): Line[] {
  if (rows.rows.length === 0) return [line(span("no month has records yet", "muted"))];
  const largest = Math.max(...rows.rows.map(({ bytes }) => bytes), 1);
  const barWidth = 24;
  const columns: TableColumn<Month>[] = [
    { title: "month", width: 8, cell: ({ month }) => span(month, "strong") },
    { title: "size", width: 10, align: "right", cell: ({ bytes }) => formatBytes(bytes) },
    {
      title: "",
      width: barWidth,
      grows: 1,
      givesWay: 1,
      cell: ({ bytes }) => bar([{ share: bytes / largest, tone: "busy" }], barWidth),
    },
    {
      title: "executions",
      width: 12,
      align: "right",
      cell: ({ executions }) => (executions < 0 ? span("uncounted", "muted") : `~ ${count(executions)}`),
    },
    {
      title: "shards",
      width: 12,
      align: "right",
      cell: ({ shards }) => (shards < 0 ? span("uncounted", "muted") : `~ ${count(shards)}`),
    },
    {
      title: "a fire",
      width: 10,
      align: "right",
      givesWay: 2,
      cell: ({ bytes, executions }) => span(executions > 0 ? formatBytes(bytes / executions) : "", "muted"),
    },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}
