/** Screen 6: what is open, worst first; the chosen one in full below. */
import type { WatchmanLook } from "../../store/ui/cluster-look.ts";
import type { AlertLook } from "../../store/ui/records-look.ts";
import { bestWatchman, watchmanState } from "../data/watchmen.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, type Span, span, type Tone, wrap } from "../text/line.ts";
import { field, panel } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { coarse, dateTimeUtc } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { type Rows, remember, type Screen, sorted, visible } from "./screen.ts";

const none: readonly AlertLook[] = [];
const detailHeight = 9;

const rowsOf = remember(
  (alerts: readonly AlertLook[], filter: string, sort: ListState["sort"]): Rows<AlertLook> => {
    const kept =
      filter === ""
        ? alerts
        : alerts.filter((one) =>
            fitsFilter(`${one.severity} ${one.rule} ${one.job ?? ""} ${one.message}`, filter),
          );
    const rows = !sort
      ? kept
      : sort.column === "time"
        ? sorted(kept, ({ firstAt }) => -firstAt.getTime(), sort.descending)
        : sorted(kept, ({ rule }) => rule, sort.descending);
    return { rows, keys: rows.map(({ key }) => key) };
  },
);

export const alertsScreen: Screen<AlertLook> = {
  name: "alerts",
  title: "Alerts",
  rows: (state) => {
    const list = listOf(state, "alerts");
    return rowsOf(state.picture.alerts?.value ?? none, list.filter, list.sort);
  },
  listHeight: (_, area) => area.height - detailHeight - 3,
  draw: drawAlerts,
  reading: ({ picture }) => !picture.alerts,
  open: (state, alert) => {
    const job = alert?.job
      ? state.picture.jobs?.value.jobs.find(({ namespace, name }) => `${namespace}/${name}` === alert.job)
      : undefined;
    if (!job) return null;
    return alert!.fireTime
      ? { screen: "execution", jobId: job.jobId, fireMs: alert!.fireTime.getTime() }
      : { screen: "job", jobId: job.jobId };
  },
  subject: (_, alert) =>
    alert
      ? { alert: alert.key, ...(alert.acknowledgedBy ? { acknowledged: alert.acknowledgedBy } : {}) }
      : {},
  command: () => ["alerts", "list"],
};

export function severitySpan(severity: AlertLook["severity"]): Span {
  const looks: Record<AlertLook["severity"], [string, Tone]> = {
    critical: ["✗ critical", "bad"],
    warning: ["! warning", "warn"],
    info: ["· info", "muted"],
  };
  return span(...looks[severity]);
}

function drawAlerts(state: State, area: Area, list: ListState): Line[] {
  const rows = alertsScreen.rows(state);
  const height = area.height - detailHeight;
  const lines = !state.picture.alerts
    ? [line(span("reading…", "muted"))]
    : rows.rows.length === 0
      ? [
          list.filter
            ? line(span(`nothing fits /${list.filter}`, "muted"))
            : line(span("✓ ", "good"), "no open alert"),
        ]
      : alertLines(state, rows, area.width - 4, height - 3, list);
  const watchman = bestWatchman(state.picture.cluster?.value.watchmen ?? []);
  const note = watchman
    ? watchmanLine(watchman)
    : line(span("no watchman looks: silence means nothing", "bad"));
  const chosen = rows.rows[list.index];
  return [
    ...panel(
      { title: `Open alerts ${rows.rows.length}`, note, width: area.width, height, focused: true },
      lines,
    ),
    ...panel(
      {
        title: chosen?.rule ?? "…",
        note: line(span("UTC", "muted")),
        width: area.width,
        height: detailHeight,
      },
      detailLines(chosen, area.width - 4),
    ),
  ];
}

/** Alerts are as old as the last look of whoever raises them. */
function watchmanLine(watchman: WatchmanLook): Line {
  const { state, tone, looked } = watchmanState(watchman);
  const said = state === "watches" ? looked : `${state}, ${looked}`;
  return line(span(`watchman ${watchman.node} ${said}`, state === "watches" ? "muted" : tone));
}

function alertLines(
  state: State,
  rows: Rows<AlertLook>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  const now = storeNow(state) ?? new Date(0);
  const columns: TableColumn<AlertLook>[] = [
    { title: "severity", width: 10, cell: ({ severity }) => severitySpan(severity) },
    {
      title: "for",
      width: 5,
      align: "right",
      cell: ({ firstAt }) => coarse(now.getTime() - firstAt.getTime()),
    },
    { title: "rule", width: 16, givesWay: 3, cell: ({ rule }) => span(rule, "muted") },
    {
      title: "job",
      width: 14,
      givesWay: 2,
      cell: ({ job }) => job?.replace(/^default\//, "") ?? span("-", "muted"),
    },
    { title: "message", width: 20, grows: 1, cell: ({ message }) => message },
    {
      title: "",
      width: 10,
      givesWay: 1,
      cell: ({ acknowledgedBy, quiet }) =>
        acknowledgedBy ? span("✓ seen", "good") : quiet ? span("silenced", "muted") : span(""),
    },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}

function detailLines(alert: AlertLook | undefined, width: number): Line[] {
  if (!alert) return [];
  const label = 7;
  const part = (name: string, text: string | null) =>
    text
      ? wrap(text, width - label - 1)
          .slice(0, 2)
          .map((one, i) => field(i === 0 ? name : "", one, label))
      : [];
  const told = alert.quiet
    ? `nobody: ${alert.quiet}`
    : alert.toldAt
      ? `${dateTimeUtc(alert.toldAt)}`
      : "not yet";
  return [
    ...part("what", alert.message),
    ...part("why", alert.cause),
    ...part("do", alert.hint),
    field(
      "since",
      line(
        dateTimeUtc(alert.firstAt),
        span(
          `  last ${dateTimeUtc(alert.lastAt)}${alert.count > 1 ? `, ${alert.count} times` : ""}`,
          "muted",
        ),
      ),
      label,
    ),
    field(
      "told",
      line(told, span(alert.acknowledgedBy ? `  acknowledged by ${alert.acknowledgedBy}` : "", "good")),
      label,
    ),
    field("key", line(span(alert.key, "muted")), label),
  ].slice(0, detailHeight - 2);
}
