/** The shards of an execution as rows, and what is known of the chosen one. */
import type { ShardLook } from "../../store/ui/execution-look.ts";
import { currentView, type ListState, type State, storeNow } from "../state/state.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import { headerLine, layOut, rowLine, type TableColumn } from "../text/table.ts";
import { coarse, count, dateTimeUtc, shortDuration } from "../text/time-text.ts";
import { type Rows, visible } from "./screen.ts";
import { statusSpan } from "./status-text.ts";

/** −1 is the step that freezes the input. */
export function shardName({ shardNo }: ShardLook): string {
  return shardNo === -1 ? "freeze" : String(shardNo);
}

export function durationOf({ startTime, endTime }: ShardLook): number | null {
  return startTime && endTime ? endTime.getTime() - startTime.getTime() : null;
}

export function shardLines(
  state: State,
  rows: Rows<ShardLook>,
  width: number,
  height: number,
  list: ListState,
): Line[] {
  if (rows.rows.length === 0)
    return [
      line(
        span(
          list.filter ? `nothing fits /${list.filter}` : "no shards are written down: it was never opened",
          "muted",
        ),
      ),
    ];
  const now = storeNow(state) ?? new Date(0);
  const mark = (column: string) =>
    list.sort?.column === column
      ? { sorted: list.sort.descending ? ("down" as const) : ("up" as const) }
      : {};
  const columns: TableColumn<ShardLook>[] = [
    { title: "shard", width: 6, align: "right", cell: (one) => shardName(one) },
    { title: "state", width: 13, cell: ({ status }) => statusSpan(status), ...mark("state") },
    {
      title: "attempt",
      width: 8,
      align: "right",
      cell: ({ attempt }) => span(String(attempt), attempt > 1 ? "warn" : "plain"),
      ...mark("attempt"),
    },
    { title: "owner", width: 12, cell: ({ owner }) => owner ?? span("-", "muted"), ...mark("owner") },
    { title: "took", width: 6, align: "right", cell: (one) => tookCell(one, now), ...mark("took") },
    {
      title: "rows",
      width: 9,
      align: "right",
      givesWay: 2,
      cell: ({ rows: done }) => (done === null ? span("-", "muted") : count(done)),
    },
    { title: "error", width: 10, grows: 1, givesWay: 1, cell: ({ error }) => span(error ?? "", "bad") },
  ];
  const laidOut = layOut(columns, width);
  return [
    headerLine(laidOut),
    ...visible(rows, list, height).map(({ row, index }) => rowLine(laidOut, row, index === list.index)),
  ];
}

function tookCell(one: ShardLook, now: Date): Span {
  const took = durationOf(one);
  if (took !== null) return span(shortDuration(took));
  return one.status === "running" && one.startTime
    ? span(coarse(now.getTime() - one.startTime.getTime()), "busy")
    : span("-", "muted");
}

/** Attempts that did not succeed, then the end of the log. */
export function logPanel(state: State, shard: ShardLook | undefined, width: number, height: number): Line[] {
  const view = currentView(state);
  const detail = state.picture.shard?.value;
  if (!shard) return panel({ title: "Log", width, height }, []);
  const title = `Shard ${shardName(shard)}`;
  const fits =
    view.screen === "execution" &&
    detail?.jobId === view.jobId &&
    detail.fireMs === view.fireMs &&
    detail.shardNo === shard.shardNo;
  if (!fits) return panel({ title, width, height }, [line(span("reading…", "muted"))]);
  const attempts = detail.attempts.map((one) =>
    line(
      span(`attempt ${one.attempt} `, "strong"),
      span(one.outcome, "warn"),
      span(` on ${one.owner ?? "?"}, ended ${dateTimeUtc(one.endTime)} UTC`, "muted"),
      span(one.error ? `  ${one.error}` : "", "bad"),
    ),
  );
  const room = height - 2;
  const log = detail.log.lines.map((text) => line(span(text)));
  const from = line(span(`log: ${detail.log.from}`, "muted"));
  const shownAttempts = attempts.slice(0, Math.max(1, Math.floor(room / 2)));
  const shownLog = log.slice(-Math.max(0, room - shownAttempts.length - 1));
  return panel({ title, note: line(span("attempts that failed, and its log", "muted")), width, height }, [
    ...shownAttempts,
    from,
    ...shownLog,
  ]);
}
