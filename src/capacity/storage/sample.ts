/** A simulated sample of a question's records: bytes for each shard of table, index and log. */
import { pageFit } from "./page-fit.ts";
import type { StorageQuestion } from "./question.ts";
import { type RecordPattern, shardsPerMonth } from "./record-pattern.ts";
import { shardDataBytes, shardTupleBytes } from "./record-rows.ts";
import type { RecordShapes } from "./record-shape.ts";
import { RecordSimulation } from "./record-simulation.ts";
import { isOutOfLine, outOfLine, pointerBytes } from "./toast.ts";

const day = 86_400_000;
/** Enough for the edges of a few pages not to matter, done in a second or two. */
const sampleShards = 30_000;

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

export function simulateSample(
  question: StorageQuestion,
  shardText: number,
  shapes: RecordShapes,
): Simulated {
  const { runsPerDay, shards, jobs, retryShare, batch } = question;
  const sampleJobs = Math.max(1, Math.min(jobs, 20));
  // On average a job runs in 43 of 100 rounds.
  const rounds = Math.max(10, Math.ceil(sampleShards / (sampleJobs * shards * 0.43)));
  const perCheckpoint = (ms: number) => Math.max(1, Math.round((runsPerDay * shards * ms) / day));
  const pattern = (checkpointMs: number): RecordPattern => ({
    name: "estimate",
    how: "lifecycle",
    jobs: sampleJobs,
    rounds,
    shards,
    shardText,
    failEvery: retryShare === 0 ? 0 : Math.max(1, Math.round(1 / retryShare)),
    attemptText: 120,
    planBatch: Math.min(sampleJobs, 4),
    claimBatch: batch,
    checkpointEvery: perCheckpoint(checkpointMs),
    months: 1,
    dropMonths: 0,
  });
  const usual = pattern(question.checkpointMs);
  const sizes = new RecordSimulation(usual, shapes).run();
  const long = new RecordSimulation(pattern(1_800_000), shapes).run();
  const count = shardsPerMonth(usual);
  const heap = sizes.execution.heapBytes + sizes.shard.heapBytes + sizes.attempt.heapBytes;
  const index = sizes.execution.indexBytes + sizes.shard.indexBytes + sizes.attempt.indexBytes;
  const packed = pageFit(shardTupleBytes(shapes.shard, shardText)).bytesPerRow;
  return {
    heap: heap / count,
    index: index / count,
    wal: sizes.walBytes / count,
    walLong: long.walBytes / count,
    imageShare: sizes.imageShare,
    live: sizes.liveBytes,
    bloat: sizes.shard.heapBytes / count / packed,
    hotShare: sizes.shard.hotShare,
  };
}
