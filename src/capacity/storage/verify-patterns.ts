/** The loads that `capacity verify` forecasts and measures. */
import { seeded } from "../random.ts";
import type { RecordPattern } from "./record-pattern.ts";

const base: RecordPattern = {
  name: "",
  how: "lifecycle",
  jobs: 50,
  rounds: 20,
  shards: 100,
  shardText: 0,
  failEvery: 0,
  attemptText: 0,
  planBatch: 10,
  claimBatch: 200,
  checkpointEvery: 0,
  months: 1,
  dropMonths: 0,
};

/**
 * Seven loads and two more drawn from the seed.
 * @param scale 1 for the short run: about a million rows; more for a longer one.
 */
export function verifyPatterns(seed: number, scale: number): RecordPattern[] {
  const rounds = (count: number) => Math.round(count * scale);
  return [
    // Executions of 100 shards with about 1 KB a record, as they stand when finished.
    {
      ...base,
      name: "finished-1kb",
      how: "import",
      jobs: 40,
      rounds: rounds(60),
      shardText: 900,
      planBatch: 40,
    },
    // Many small records: the bulk of the rows.
    { ...base, name: "finished-narrow", how: "import", jobs: 100, rounds: rounds(170), planBatch: 100 },
    // The real life of records: planned, opened, claimed, completed.
    { ...base, name: "lifecycle", rounds: rounds(36) },
    {
      ...base,
      name: "lifecycle-1kb-checkpoints",
      jobs: 20,
      rounds: rounds(40),
      shardText: 900,
      checkpointEvery: 5_000,
    },
    {
      ...base,
      name: "lifecycle-one-shard",
      jobs: 500,
      rounds: rounds(120),
      shards: 1,
      planBatch: 100,
      claimBatch: 100,
    },
    {
      ...base,
      name: "retries",
      jobs: 30,
      rounds: rounds(30),
      failEvery: 5,
      attemptText: 200,
      claimBatch: 100,
    },
    { ...base, name: "drop-oldest-month", jobs: 40, rounds: rounds(15), months: 3, dropMonths: 1 },
    randomPattern(seed, 1, scale),
    randomPattern(seed, 2, scale),
  ];
}

/** The most statements a random load may take; each is a round trip. */
const mostBatches = 1_500;

/** A load nobody chose. */
export function randomPattern(seed: number, number: number, scale: number): RecordPattern {
  const random = seeded(seed * 7919 + number);
  const shards = random.pick([1, 2, 5, 8, 16, 32, 40, 64, 100, 150, 250]);
  const jobs = random.integer(5, 120);
  // Many executions with few shards each are planned many at a time, as they come due together.
  const planBatch = random.integer(1, 30) + (shards < 10 ? 60 : 0);
  // On average a job runs in 43 of 100 rounds.
  const executions = Math.min(random.integer(30_000, 60_000) / shards, mostBatches * planBatch) * scale;
  return {
    ...base,
    name: `random-${number}`,
    jobs,
    shards,
    rounds: Math.max(10, Math.round(executions / (jobs * 0.43))),
    shardText: random.pick([0, 0, random.integer(1, 1_700)]),
    failEvery: random.pick([0, 0, random.integer(3, 50)]),
    attemptText: random.integer(20, 400),
    planBatch,
    claimBatch: random.integer(20, 500),
    checkpointEvery: random.pick([0, 0, random.integer(4_000, 20_000)]),
  };
}
