/** The rows of the record store at each step of their life, as widths of their columns. */
import { heapTupleBytes, type RowWidths, type TableShape } from "./tuple.ts";

/** Lengths of the texts that vary from store to store. */
export interface TextWidths {
  /** Message or summary in a finished shard's record. */
  readonly shardText: number;
  /** Error text of an attempt that failed. */
  readonly attemptText: number;
  readonly jobName: number;
  /** Hexadecimal digest of the definition. */
  readonly digest: number;
}

const set = true as const;
const shardKey = { job_id: set, fire_time: set, shard_no: set } as const;
const executionKey = { job_id: set, fire_time: set } as const;

export interface RecordRows {
  readonly execution: {
    readonly planned: RowWidths;
    readonly opened: RowWidths;
    readonly running: RowWidths;
    readonly ended: RowWidths;
  };
  readonly shard: { readonly pending: RowWidths; readonly ended: RowWidths };
  readonly attempt: RowWidths;
  readonly executionLive: RowWidths;
  readonly shardLive: { readonly ready: RowWidths; readonly claimed: RowWidths; readonly again: RowWidths };
  readonly job: RowWidths;
}

/** Status words differ by a byte or two at most; `planned`, `pending`, `running` and `success` all have seven. */
export function recordRows(widths: TextWidths): RecordRows {
  const planned: RowWidths = {
    ...executionKey,
    execution_id: set,
    run_no: set,
    trigger_type: 8,
    status: 7,
    job_version: set,
    digest: widths.digest,
    shard_count: set,
    schedule_time: set,
    planned_at: set,
    epoch: set,
  };
  const opened = { ...planned, opened_at: set };
  const running = { ...opened, actual_start_time: set, missed_seconds: set };
  const pending: RowWidths = { ...shardKey, status: 7, attempt: set };
  const ready: RowWidths = {
    ...shardKey,
    class: set,
    catch_up: set,
    continue_fenced: set,
    cancel_requested: set,
    max_tries: set,
    tries: set,
    attempt: set,
    run_after: set,
    interrupted: set,
  };
  const claimed = { ...ready, owner: set, fence_token: set, start_time: set };
  return {
    execution: { planned, opened, running, ended: { ...running, actual_end_time: set, duration_ms: set } },
    shard: {
      pending,
      ended: {
        ...pending,
        owner: set,
        fence_token: set,
        start_time: set,
        end_time: set,
        rows: set,
        ...(widths.shardText > 0 && { error: widths.shardText }),
      },
    },
    attempt: {
      ...shardKey,
      attempt: set,
      outcome: 5,
      owner: set,
      fence_token: set,
      start_time: set,
      end_time: set,
      exit_code: set,
      error: widths.attemptText,
    },
    executionLive: {
      ...executionKey,
      state: 7,
      due_at: set,
      trigger_type: 8,
      queued: set,
      started: set,
      catch_up: set,
      remaining: set,
      failed: set,
      cancelled: set,
      class: set,
      max_tries: set,
      misfire_threshold_ms: set,
      blocking: 5,
      continue_fenced: set,
      freezes: set,
    },
    shardLive: { ready, claimed, again: { ...ready, fence_token: set } },
    job: {
      job_id: set,
      namespace: 7,
      name: widths.jobName,
      state: 6,
      state_since: set,
      version: set,
      known_since: set,
      planned_until: set,
    },
  };
}

/** Bytes of data in a finished shard's record without its text: what a planner would count. */
export function shardDataBytes(shape: TableShape): number {
  const row = recordRows({ shardText: 0, attemptText: 0, jobName: 1, digest: 64 }).shard.ended;
  return shape.columns.reduce((sum, { name, length }) => {
    const width = row[name];
    return sum + (width === undefined ? 0 : width === true ? length : width);
  }, 0);
}

/** Length of a finished shard's heap tuple, not rounded up. */
export function shardTupleBytes(shape: TableShape, shardText: number): number {
  return heapTupleBytes(shape, recordRows({ shardText, attemptText: 0, jobName: 1, digest: 64 }).shard.ended);
}
