/** Forecasts what a load of records will measure, from a simulated sample of it. */
import { type RecordPattern, shardsPerMonth } from "./record-pattern.ts";
import type { RecordShapes } from "./record-shape.ts";
import { RecordSimulation, type RecordSizes } from "./record-simulation.ts";

/** Bytes for each shard, executions and attempts shared out over them. */
export interface BytesPerShard {
  readonly heap: number;
  readonly index: number;
  readonly wal: number;
}

export interface RecordSample extends BytesPerShard {
  readonly sizes: RecordSizes;
  /** Shards that were simulated. */
  readonly shards: number;
}

export interface RecordForecast {
  /** What stays after the drop of old months: tables and indexes of the kept records. */
  readonly heapBytes: number;
  readonly indexBytes: number;
  /** Log written by the whole load. */
  readonly walBytes: number;
  readonly shards: number;
  /** Shards that were simulated; the rest follows in proportion. */
  readonly sampleShards: number;
}

/** Done in about ten seconds; smaller loads are simulated whole. */
const defaultSample = 1_200_000;
/** A sample has the same mix of frequent and rare jobs as the whole: a multiple of five. */
const fewestJobs = 10;
const jobStep = 5;
/** Below this share of all jobs the last one does not count. */
const negligible = 1 / 20;

/** @param mostShards how many shards are simulated at most */
export function forecastRecords(
  pattern: RecordPattern,
  shapes: RecordShapes,
  mostShards: number = defaultSample,
): RecordForecast {
  const { heap, index, wal, shards: sampleShards } = sampleRecords(pattern, shapes, mostShards);
  const month = shardsPerMonth(pattern);
  const kept = pattern.months - pattern.dropMonths;
  return {
    heapBytes: heap * month * kept,
    indexBytes: index * month * kept,
    walBytes: wal * month * pattern.months,
    shards: month * pattern.months,
    sampleShards,
  };
}

/**
 * Simulates a month, or some of its jobs. The last job of an index is packed
 * tighter than the others, because pages at the very end are split unevenly;
 * a sample is therefore taken twice, once from the middle and once with an end,
 * and the end gets the weight that it has among all jobs.
 */
export function sampleRecords(
  pattern: RecordPattern,
  shapes: RecordShapes,
  mostShards: number,
): RecordSample {
  const sample = shrink(pattern, mostShards);
  const shards = shardsPerMonth(sample);
  const isWhole = sample.jobs === pattern.jobs;
  if (isWhole) {
    const whole = new RecordSimulation(sample, shapes).run();
    return { ...bytesPerShard(whole, shards), sizes: whole, shards };
  }
  const middle = new RecordSimulation(sample, shapes, true).run();
  const weight = sample.jobs / pattern.jobs;
  if (1 / pattern.jobs < negligible) return { ...bytesPerShard(middle, shards), sizes: middle, shards };
  const withEnd = new RecordSimulation(sample, shapes).run();
  const [inMiddle, atEnd] = [bytesPerShard(middle, shards), bytesPerShard(withEnd, shards)];
  const blend = (what: keyof BytesPerShard) => inMiddle[what] + (atEnd[what] - inMiddle[what]) * weight;
  return { heap: blend("heap"), index: blend("index"), wal: blend("wal"), sizes: middle, shards };
}

function bytesPerShard({ execution, shard, attempt, walBytes }: RecordSizes, shards: number): BytesPerShard {
  return {
    heap: (execution.heapBytes + shard.heapBytes + attempt.heapBytes) / shards,
    index: (execution.indexBytes + shard.indexBytes + attempt.indexBytes) / shards,
    wal: walBytes / shards,
  };
}

/**
 * Fewer jobs first, because how full an index gets depends on how many entries
 * each job has between two vacuums; then fewer rounds. A checkpoint comes as
 * often for each job as in the whole.
 */
function shrink(pattern: RecordPattern, mostShards: number): RecordPattern {
  const excess = shardsPerMonth(pattern) / mostShards;
  if (excess <= 1) return pattern;
  const wanted = Math.ceil(pattern.jobs / excess / jobStep) * jobStep;
  const jobs = Math.min(pattern.jobs, Math.max(fewestJobs, wanted));
  const checkpointEvery =
    pattern.checkpointEvery === 0
      ? 0
      : Math.max(1, Math.round((pattern.checkpointEvery * jobs) / pattern.jobs));
  const fewer = { ...pattern, jobs, checkpointEvery, planBatch: Math.min(pattern.planBatch, jobs) };
  const left = shardsPerMonth(fewer) / mostShards;
  return left <= 1 ? fewer : { ...fewer, rounds: Math.ceil(pattern.rounds / left) };
}
