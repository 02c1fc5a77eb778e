/** One execution: all of its shards in one picture, those in trouble first, and the end of the chosen one's log. */
import { formatInstant } from "../../base/instant.ts";
import type { ShardLook } from "../../store/ui/execution-look.ts";
import type { ExecutionDetail } from "../data/picture.ts";
import { fitsFilter } from "../state/list.ts";
import { currentView, type ListState, listOf, type State, storeNow } from "../state/state.ts";
import { type Line, line, span } from "../text/line.ts";
import { field, panel } from "../text/panel.ts";
import { coarse, count, dateTimeUtc, shortDuration } from "../text/time-text.ts";
import type { Area } from "./area.ts";
import { type Rows, remember, type Screen, sorted } from "./screen.ts";
import { gridHeight, gridLines } from "./shard-grid.ts";
import { durationOf, logPanel, shardLines, shardName } from "./shard-panels.ts";
import { statusSpan } from "./status-text.ts";

const none: readonly ShardLook[] = [];
const order: readonly ShardLook["status"][] = [
  "failed",
  "interrupted",
  "running",
  "pending",
  "cancelled",
  "success",
];

const rowsOf = remember(
  (shards: readonly ShardLook[], filter: string, sort: ListState["sort"]): Rows<ShardLook> => {
    const kept =
      filter === ""
        ? shards
        : shards.filter((one) =>
            fitsFilter(`${shardName(one)} ${one.status} ${one.owner ?? ""} ${one.error ?? ""}`, filter),
          );
    const descending = sort?.descending ?? false;
    const by = (column: string | undefined): ((one: ShardLook) => string | number | null) => {
      switch (column) {
        case "took":
          return (one) => -(durationOf(one) ?? Number.NaN) || null;
        case "attempt":
          return ({ attempt }) => -attempt;
        case "owner":
          return ({ owner }) => owner;
        case "state":
          return ({ status }) => status;
        default:
          return ({ status }) => order.indexOf(status);
      }
    };
    const rows = sorted(kept, by(sort?.column), descending);
    return { rows, keys: rows.map(({ shardNo }) => String(shardNo)) };
  },
);

function detailOf(state: State): ExecutionDetail | undefined {
  const view = currentView(state);
  const detail = state.picture.execution?.value;
  return view.screen === "execution" && detail?.jobId === view.jobId && detail.fireMs === view.fireMs
    ? detail
    : undefined;
}

interface Heights {
  readonly head: number;
  readonly grid: number;
  readonly list: number;
  readonly log: number;
}

function heights(state: State, area: Area): Heights {
  const head = 6;
  const shards = detailOf(state)?.shards.length ?? 0;
  const grid =
    area.height >= 30 ? gridHeight(shards, area.width - 4, Math.min(10, Math.floor(area.height / 5))) + 2 : 0;
  const rest = area.height - head - grid;
  // On a low screen the shards need the room of the log.
  const log = rest >= 24 ? Math.floor(rest / 3) : rest >= 14 ? 6 : rest >= 10 ? 5 : 0;
  return { head, grid, list: rest - log, log };
}

export const executionScreen: Screen<ShardLook> = {
  name: "execution",
  title: "Execution",
  rows: (state) => {
    const list = listOf(state, "execution");
    return rowsOf(detailOf(state)?.shards ?? none, list.filter, list.sort);
  },
  listHeight: (state, area) => heights(state, area).list - 3,
  draw: drawExecution,
  open: () => null,
  subject: (state) => {
    const view = currentView(state);
    if (view.screen !== "execution") return {};
    const job = state.picture.jobs?.value.byId.get(view.jobId)?.label;
    const status = detailOf(state)?.execution?.status;
    return {
      ...(job ? { job } : {}),
      fire: formatInstant(new Date(view.fireMs)),
      ...(status ? { status } : {}),
    };
  },
  command: (state) => {
    const { job, fire } = executionScreen.subject(state, undefined);
    return job && fire ? ["shards", job, fire] : [];
  },
};

function drawExecution(state: State, area: Area, list: ListState): Line[] {
  const detail = detailOf(state);
  const view = currentView(state);
  const { job = "?", fire = "?" } = executionScreen.subject(state, undefined);
  const title = `${job} at ${fire}`;
  if (!detail || view.screen !== "execution")
    return panel({ title, width: area.width, height: area.height }, [line(span("reading…", "muted"))]);
  if (!detail.execution)
    return panel({ title, width: area.width, height: area.height }, [
      line(span("the records know no such execution", "bad")),
    ]);
  const { head, grid, list: listHeight, log } = heights(state, area);
  const rows = executionScreen.rows(state);
  const note = line(
    span(
      `${detail.complete ? "" : "reading… · "}${list.sort ? `by ${list.sort.column}` : "in trouble first"}`,
      "muted",
    ),
  );
  return [
    ...panel({ title, width: area.width, height: head }, headLines(state, detail, area.width - 4)),
    ...(grid > 0
      ? panel(
          {
            title: "All shards",
            note: line(span("✗ failed  ▸ running  ○ waiting  ■ done", "muted")),
            width: area.width,
            height: grid,
          },
          gridLines(detail.shards, area.width - 4, grid - 2),
        )
      : []),
    ...panel(
      {
        title: `Shards ${count(rows.rows.length)}`,
        note,
        width: area.width,
        height: listHeight,
        focused: true,
      },
      shardLines(state, rows, area.width - 4, listHeight - 3, list),
    ),
    ...(log === 0 ? [] : logPanel(state, rows.rows[list.index], area.width, log)),
  ];
}

function headLines(state: State, { execution, shards }: ExecutionDetail, width: number): Line[] {
  const one = execution!;
  const now = storeNow(state) ?? new Date(0);
  const of = (status: ShardLook["status"]) => shards.filter((shard) => shard.status === status).length;
  const took =
    one.durationMs !== null
      ? `took ${shortDuration(one.durationMs)}`
      : one.actualStartTime
        ? `since ${coarse(now.getTime() - one.actualStartTime.getTime())}`
        : "not started";
  const counts = (["failed", "interrupted", "running", "pending", "cancelled", "success"] as const).flatMap(
    (status) => {
      const value = of(status);
      return value > 0 ? [span(`${statusSpan(status).text} ${count(value)}  `, statusSpan(status).tone)] : [];
    },
  );
  const attempts = shards.reduce((sum, { attempt }) => sum + attempt, 0);
  const label = 8;
  const start = one.actualStartTime ? `${dateTimeUtc(one.actualStartTime)} UTC` : "-";
  return [
    field(
      "status",
      line(
        statusSpan(one.status),
        span(`  run ${one.runNo}`, one.runNo > 1 ? "warn" : "muted"),
        span(`  ${took}  `),
        span(`late ${one.missedSeconds === null ? "-" : shortDuration(one.missedSeconds * 1_000)}`, "muted"),
        span(`  ${one.triggerType}${one.periodKey ? `, period ${one.periodKey}` : ""}`, "muted"),
      ),
      label,
    ),
    field(
      "shards",
      line(
        span(count(one.shardCount), "strong"),
        "  ",
        ...counts,
        span(`${count(attempts)} attempts`, "muted"),
      ),
      label,
    ),
    field(
      "started",
      line(
        start,
        span(
          width > 90
            ? `   ended ${one.actualEndTime ? `${dateTimeUtc(one.actualEndTime)} UTC` : "-"}   epoch ${one.epoch ?? "-"}   version ${one.jobVersion}`
            : "",
          "muted",
        ),
      ),
      label,
    ),
    field(
      "why",
      one.reason
        ? line(span(one.reason, one.status === "success" ? "plain" : "bad"))
        : line(span("-", "muted")),
      label,
    ),
  ];
}
