/** Executions as a table for people. */
import { formatDuration } from "../base/duration.ts";
import { formatInstant } from "../base/instant.ts";
import type { ExecutionRow, ExecutionStatus } from "../store/execution.ts";
import { jobLabel } from "../store/job.ts";
import { paint, table } from "./terminal.ts";

const colour: Record<ExecutionStatus, (text: string) => string> = {
  planned: paint.dim,
  pending: paint.cyan,
  running: paint.cyan,
  success: paint.green,
  failed: paint.red,
  interrupted: paint.yellow,
  missed: paint.red,
  blocked: paint.yellow,
  cancelled: paint.yellow,
};

/** A status in its colour; the word alone says it, too. */
export function paintStatus(status: ExecutionStatus): string {
  return colour[status](status);
}

export function executionTable(executions: readonly ExecutionRow[]): string {
  const rows = executions.map((one) => [
    jobLabel(one),
    formatInstant(one.fireTime),
    one.triggerType,
    paintStatus(one.status),
    one.missedSeconds === null ? "-" : `${one.missedSeconds.toFixed(1)}s`,
    one.durationMs === null ? "-" : formatDuration(one.durationMs),
    String(one.shardCount),
    one.runNo > 1 ? `run ${one.runNo}` : "",
    [one.periodKey ? `period ${one.periodKey}` : "", one.reason ?? ""].filter(Boolean).join("; "),
  ]);
  return table(["job", "fire time (UTC)", "trigger", "status", "late", "took", "shards", "", "notes"], rows);
}
