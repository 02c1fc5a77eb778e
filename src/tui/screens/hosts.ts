/** Screen 3: every process of the cluster, what its clock says, and what is wrong with its host. */

import type { ClusterLook } from "../../store/ui/cluster-look.ts";
import type { Inspection } from "../data/host-inspection.ts";
import { clockTone, type HostRow, hostRows } from "../data/host-rows.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, span } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { coarse, offsetText } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { detailHeight, detailLines, driftSpan, findingsSpan } from "./host-detail.ts";
import { type Rows, remember, type Screen, sorted, visible } from "./screen.ts";

const rowsOf = remember(
  (
    look: ClusterLook | undefined,
    inspection: Inspection | undefined,
    filter: string,
    sort: ListState["sort"],
  ): Rows<HostRow> => {
    const all = look ? hostRows(look, inspection) : [];
    const kept =
      filter === ""
        ? all
        : all.filter((one) =>
            fitsFilter(`${one.node} ${one.host} ${one.role} ${one.health} ${one.note}`, filter),
          );
    const by: Record<string, (one: HostRow) => string | number | null> = {
      name: ({ node }) => node,
      state: ({ health }) => health,
      clock: ({ offsetMs }) => (offsetMs === null ? null : -Math.abs(offsetMs)),
    };
    const value = sort ? by[sort.column] : undefined;
    const rows = value ? sorted(kept, value, sort!.descending) : kept;
    return { rows, keys: rows.map(({ key }) => key) };
  },
);

export const hostsScreen: Screen<HostRow> = {
  name: "hosts",
  title: "Hosts",
  rows: (state) => {
    const list = listOf(state, "hosts");
    return rowsOf(state.picture.cluster?.value, state.picture.inspection?.value, list.filter, list.sort);
  },
  listHeight: (_, area) => area.height - detailHeight(area) - 3,
  draw: drawHosts,
  open: () => null,
  subject: (_, row) =>
    row
      ? {
          node: row.node,
          host: row.host,
          ...(row.role === "executor" ? { executor: row.node } : {}),
          ...(row.drained ? { drained: "yes" } : {}),
        }
      : {},
  command: () => ["status"],
};

function drawHosts(state: State, area: Area, list: ListState): Line[] {
  const rows = hostsScreen.rows(state);
  const look = state.picture.cluster?.value;
  const lines = !look
    ? [line(span("reading…", "muted"))]
    : rows.rows.length === 0
      ? [
          line(
            span(
              list.filter ? `nothing fits /${list.filter}` : "no process has ever told of itself",
              "muted",
            ),
          ),
        ]
      : hostLines(state, rows, area.width - 4, area.height - detailHeight(area) - 3, list);
  const unwell = rows.rows.filter(({ tone }) => tone === "bad").length;
  const title = `Processes ${rows.rows.length}${unwell > 0 ? `, ${unwell} unwell` : ""}`;
  return [
    ...panel(
      {
        title,
        note: line(span("the latest life of each node", "muted")),
        width: area.width,
        height: area.height - detailHeight(area),
        focused: true,
      },
      lines,
    ),
    ...panel(
      { title: rows.rows[list.index]?.node ?? "…", width: area.width, height: detailHeight(area) },
      detailLines(state, rows.rows[list.index], detailHeight(area) - 2),
    ),
  ];
}

function hostLines(
  state: State,
  rows: Rows<HostRow>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  const now = storeNow(state) ?? new Date(0);
  const mark = (column: string) =>
    list.sort?.column === column
      ? { sorted: list.sort.descending ? ("down" as const) : ("up" as const) }
      : {};
  const columns: TableColumn<HostRow>[] = [
    { title: "node", width: 14, grows: 1, cell: ({ node }) => node, ...mark("name") },
    { title: "role", width: 9, cell: ({ role }) => span(role, "muted") },
    {
      title: "health",
      width: 13,
      cell: ({ sign, health, tone }) => span(`${sign} ${health}`, tone),
      ...mark("state"),
    },
    { title: "host", width: 12, grows: 1, givesWay: 2, cell: ({ host }) => host },
    {
      title: "clock",
      width: 9,
      align: "right",
      cell: ({ offsetMs, role }) =>
        role === "watchman" || role === "host"
          ? span("")
          : offsetMs === null
            ? span("?", "warn")
            : span(offsetText(offsetMs), clockTone(offsetMs)),
      ...mark("clock"),
    },
    { title: "time service", width: 16, givesWay: 5, cell: ({ time }) => span(time || "-", "muted") },
    { title: "findings", width: 8, givesWay: 2, cell: findingsSpan },
    { title: "drift", width: 7, givesWay: 1, cell: driftSpan },
    {
      title: "runs",
      width: 9,
      align: "right",
      cell: ({ running, slots }) =>
        running === null ? span("") : span(`${running}/${slots}`, running > 0 ? "busy" : "muted"),
    },
    {
      title: "up",
      width: 5,
      align: "right",
      givesWay: 4,
      cell: ({ startedAt }) => span(startedAt ? coarse(now.getTime() - startedAt.getTime()) : "", "muted"),
    },
    { title: "version", width: 8, givesWay: 6, cell: ({ version }) => span(version, "muted") },
    { title: "notes", width: 10, grows: 2, givesWay: 3, cell: ({ note }) => span(note, "muted") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}
