/** One fire with everything that the records hold about it; what the decisions are made of. */
import type {
  FireAttempt,
  FireExecution,
  FireShard,
  FireStaleWrite,
} from "../../store/diagnose/fire-rows.ts";
import type { CallCount } from "../../store/diagnose/open-effects.ts";
import type { Evidence } from "./diagnosis.ts";
import type { LastWords } from "./job-log.ts";
import type { MemoryKill } from "./oom-journal.ts";

export interface Fire {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly fireTime: Date;
  /** The definition in force then has a fire at this instant, and the job was neither paused nor deleted. */
  readonly expected: boolean;
  /** Of the definition in force then; null: there was none. */
  readonly version: number | null;
  /** The scheduler's cursor has passed it. */
  readonly passed: boolean;
  readonly execution: FireExecution | null;
  /** Empty for an execution that simply succeeded. */
  readonly shards: readonly FireShard[];
  readonly attempts: readonly FireAttempt[];
  /** Kills for want of memory, of any host and time. */
  readonly kills: readonly MemoryKill[];
  /** What its attempts said last, where somebody has brought the job's log. */
  readonly lastWords: readonly LastWords[];
  readonly staleWrites: readonly FireStaleWrite[];
  /** Null: nobody asked the guard, or it knows no call. */
  readonly calls: CallCount | null;
  /** Another execution of the job that was unfinished when this one came due. */
  readonly inTheWay: FireExecution | null;
  /** Successful manual runs between this fire and the next one, of a job without a period. */
  readonly twins: readonly FireExecution[];
}

export interface DiagnoseSettings {
  /** Started later than this is late. */
  readonly lateMs: number;
  /** A fire younger than this is not judged by what is not there yet. */
  readonly graceMs: number;
}

/** Five minutes is where the watchman warns of a late start, a minute where it misses an opening. */
export const defaultDiagnoseSettings: DiagnoseSettings = { lateMs: 300_000, graceMs: 60_000 };

/** The columns of an execution that a person needs to see. */
export function executionEvidence(execution: FireExecution): Evidence {
  const { executionId, runNo, trigger, status, plannedAt, openedAt, startedAt, endedAt } = execution;
  const { missedSeconds, epoch, reason, fireTime } = execution;
  return {
    from: "execution",
    row: {
      fireTime,
      executionId,
      runNo,
      trigger,
      status,
      plannedAt,
      openedAt,
      startedAt,
      endedAt,
      missedSeconds,
      epoch,
      reason,
    },
  };
}

export function attemptEvidence(attempt: FireAttempt): Evidence {
  const { shardNo, attempt: number, outcome, node, startedAt, endedAt, rows, exitCode, error } = attempt;
  return {
    from: "shard_attempt",
    row: { shardNo, attempt: number, outcome, node, startedAt, endedAt, rows, exitCode, error },
  };
}

export function shardEvidence(shard: FireShard): Evidence {
  const { shardNo, status, attempt, node, ownerLeaseUntil, startedAt, rows, error } = shard;
  return { from: "shard", row: { shardNo, status, attempt, node, ownerLeaseUntil, startedAt, rows, error } };
}

export function staleEvidence({ shardNo, at, what, node, fenceToken, lost }: FireStaleWrite): Evidence {
  return { from: "stale_write", row: { shardNo, at, what, node, fenceToken, lost } };
}
