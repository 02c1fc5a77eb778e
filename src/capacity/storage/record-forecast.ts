/** Forecasts what a load of records will measure, from a simulated sample of it. */

import { type RecordPattern, shardsPerMonth } from "./record-pattern.ts";
import { keptTables, type RecordShapes } from "./record-shape.ts";
import { RecordSimulation } from "./record-simulation.ts";

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

/** Enough for edge effects of a few pages to vanish, and done in a few seconds. */
const defaultSample = 120_000;

/** So many jobs share pages in every sample. */
const fewestJobs = 10;

/** @param mostShards how many shards are simulated at most */
export function forecastRecords(
  pattern: RecordPattern,
  shapes: RecordShapes,
  mostShards: number = defaultSample,
): RecordForecast {
  const sample = shrink(pattern, mostShards);
  const sizes = new RecordSimulation(sample, shapes).run();
  const factor = shardsPerMonth(pattern) / shardsPerMonth(sample);
  const tables = [sizes.execution, sizes.shard, sizes.attempt];
  if (tables.length !== keptTables.length) throw new RangeError("every kept table is simulated");
  const kept = pattern.months - pattern.dropMonths;
  return {
    heapBytes: tables.reduce((sum, { heapBytes }) => sum + heapBytes, 0) * factor * kept,
    indexBytes: tables.reduce((sum, { indexBytes }) => sum + indexBytes, 0) * factor * kept,
    walBytes: sizes.walBytes * factor * pattern.months,
    shards: shardsPerMonth(pattern) * pattern.months,
    sampleShards: shardsPerMonth(sample),
  };
}

/**
 * Fewer jobs first, because how full an index gets depends on how many entries
 * each job has; then fewer rounds.
 */
function shrink(pattern: RecordPattern, mostShards: number): RecordPattern {
  const excess = shardsPerMonth(pattern) / mostShards;
  if (excess <= 1) return pattern;
  const jobs = Math.max(Math.min(fewestJobs, pattern.jobs), Math.ceil(pattern.jobs / excess));
  const fewer = { ...pattern, jobs, planBatch: Math.min(pattern.planBatch, jobs) };
  const left = shardsPerMonth(fewer) / mostShards;
  return left <= 1 ? fewer : { ...fewer, rounds: Math.ceil(pattern.rounds / left) };
}
