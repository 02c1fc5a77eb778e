/** A simulated sample of a question's records: bytes for each shard of table, index and log. */
import { pageFit } from "./page-fit.ts";
import type { StorageQuestion } from "./question.ts";
import { sampleRecords } from "./record-forecast.ts";
import type { RecordPattern } from "./record-pattern.ts";
import { shardDataBytes, shardTupleBytes } from "./record-rows.ts";
import type { RecordShapes } from "./record-shape.ts";
import { isOutOfLine, outOfLine, pointerBytes } from "./toast.ts";

const day = 86_400_000;
const daysPerMonth = 365.25 / 12;
/** Enough for the edges of a few pages not to matter, done in a second or two. */
const sampleShards = 120_000;
/** Every job of a sample has run so often at least. */
const fewestRuns = 10;
/** The part of all rounds in which an average job runs, see `jobsOfRound`. */
const partOfRounds = 0.435;

interface TextBytes {
  /** Text that stays in the row. */
  readonly inRow: number;
  readonly outOfRow: number;
  readonly outOfRowIndex: number;
  readonly isOut: boolean;
}

export function textBytes({ rowBytes }: StorageQuestion, shapes: RecordShapes): TextBytes {
  const text = Math.max(0, Math.round(rowBytes - shardDataBytes(shapes.shard)));
  if (!isOutOfLine(shardTupleBytes(shapes.shard, text)))
    return { inRow: text, outOfRow: 0, outOfRowIndex: 0, isOut: false };
  const { bytesPerRow, indexBytesPerRow } = outOfLine(text);
  return { inRow: pointerBytes, outOfRow: bytesPerRow, outOfRowIndex: indexBytesPerRow, isOut: true };
}

export interface Simulated {
  readonly heap: number;
  readonly index: number;
  readonly wal: number;
  readonly walLong: number;
  readonly imageShare: number;
  readonly live: number;
  readonly bloat: number;
  readonly hotShare: number;
}

/** A month of the question's records, of which as many jobs are simulated as are done in a second or two. */
export function simulateSample(
  question: StorageQuestion,
  shardText: number,
  shapes: RecordShapes,
): Simulated {
  const { shards, retryShare, batch } = question;
  const executions = question.runsPerDay * daysPerMonth;
  const jobs = Math.max(1, Math.min(question.jobs, Math.floor(executions / fewestRuns)));
  const perCheckpoint = (ms: number) => Math.max(1, Math.round((question.runsPerDay * shards * ms) / day));
  const pattern = (checkpointMs: number): RecordPattern => ({
    name: "estimate",
    how: "lifecycle",
    jobs,
    rounds: Math.max(fewestRuns, Math.round(executions / (jobs * partOfRounds))),
    shards,
    shardText,
    failEvery: retryShare === 0 ? 0 : Math.max(1, Math.round(1 / retryShare)),
    attemptText: 120,
    planBatch: 4,
    claimBatch: batch,
    checkpointEvery: perCheckpoint(checkpointMs),
    months: 1,
    dropMonths: 0,
  });
  const usual = sampleRecords(pattern(question.checkpointMs), shapes, sampleShards);
  const long = sampleRecords(pattern(1_800_000), shapes, sampleShards / 3);
  const { sizes } = usual;
  const packed = pageFit(shardTupleBytes(shapes.shard, shardText)).bytesPerRow;
  return {
    heap: usual.heap,
    index: usual.index,
    wal: usual.wal,
    walLong: long.wal,
    imageShare: sizes.imageShare,
    live: sizes.liveBytes,
    bloat: sizes.shard.heapBytes / usual.shards / packed,
    hotShare: sizes.shard.hotShare,
  };
}
