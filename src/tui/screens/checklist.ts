/** Screen 5: the fifteen questions and their latest answers. */

import type { ChecklistLook } from "../../store/ui/records-look.ts";
import type { ReportLook } from "../data/checklist-items.ts";
import { checklistRows, type ItemRow } from "../data/checklist-rows.ts";
import { fitsFilter } from "../state/list.ts";
import { type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, span } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { away } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { type Rows, remember, type Screen, visible } from "./screen.ts";
import { statusSpan } from "./status-text.ts";

const none: readonly ChecklistLook[] = [];

const rowsOf = remember(
  (runs: readonly ChecklistLook[], report: ReportLook | undefined, filter: string): Rows<ItemRow> => {
    const all = checklistRows(runs, report);
    const rows =
      filter === ""
        ? all
        : all.filter((one) =>
            fitsFilter(`${one.number} ${one.question} ${one.verdict} ${one.message}`, filter),
          );
    return { rows, keys: rows.map(({ number }) => String(number)) };
  },
);

export const checklistScreen: Screen<ItemRow> = {
  name: "checklist",
  title: "Checklist",
  rows: (state) =>
    rowsOf(
      state.picture.checklists?.value ?? none,
      state.picture.report?.value ?? undefined,
      listOf(state, "checklist").filter,
    ),
  listHeight: (_, area) => area.height - 3,
  draw: drawChecklist,
  reading: ({ picture }) => !picture.checklists,
  open: (_, row) => (row ? { screen: "item", number: row.number } : null),
  subject: (_, row) => ({ cluster: "the cluster", ...(row ? { item: String(row.number) } : {}) }),
  command: (_, row) => (row ? ["checklist", "--item", String(row.number), "--verbose"] : ["checklist"]),
};

function drawChecklist(state: State, area: Area, list: ListState): Line[] {
  const runs = state.picture.checklists?.value;
  const now = storeNow(state) ?? new Date(0);
  const latest = runs?.[0];
  const rows = checklistScreen.rows(state);
  const passed = rows.rows.filter(({ verdict }) => verdict === "pass").length;
  const title = latest ? `Checklist: ${passed} of ${rows.rows.length} pass` : "Checklist";
  const note = latest
    ? line(statusSpan(latest.outcome), span(` ${away(latest.at, now)} by ${latest.person}`, "muted"))
    : line(span("has never run", "warn"));
  const lines = !runs
    ? [line(span("reading…", "muted"))]
    : rows.rows.length === 0
      ? emptyText(list)
      : itemLines(rows, area.width - 4, area.height - 3, list);
  return panel({ title, note, width: area.width, height: area.height, focused: true }, lines);
}

function emptyText(list: ListState): Line[] {
  if (list.filter) return [line(span(`nothing fits /${list.filter}`, "muted"))];
  return [
    line(span("? ", "warn"), "the checklist has never run: nobody knows"),
    line(span("escapement checklist --cluster FILE, or R here", "muted")),
  ];
}

function itemLines(rows: Rows<ItemRow>, width: number, height: number, list: ListState): Line[] {
  const columns: TableColumn<ItemRow>[] = [
    { title: "no", width: 2, align: "right", cell: ({ number }) => span(String(number), "strong") },
    { title: "verdict", width: 14, cell: ({ verdict }) => statusSpan(verdict) },
    {
      title: "before",
      width: 8,
      givesWay: 2,
      cell: ({ before, verdict }) =>
        span(before === null || before === verdict ? "" : `was ${before}`, "warn"),
    },
    { title: "question", width: 20, grows: 2, cell: ({ question }) => question },
    { title: "answer", width: 14, grows: 3, givesWay: 1, cell: ({ message }) => span(message, "muted") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}
