/** How records come about: what the storage model simulates, and what `capacity verify` really loads. */

export interface RecordPattern {
  readonly name: string;
  /**
   * `lifecycle`: planned, opened, claimed, completed by the store's own functions.
   * `import`: finished records, inserted once, as a restore or a move from another system does.
   */
  readonly how: "lifecycle" | "import";
  readonly jobs: number;
  /** Rounds in a month; a job takes part in every first, second, third, fifth or seventh of them. */
  readonly rounds: number;
  readonly shards: number;
  /** Bytes of message or summary in a finished shard's record. */
  readonly shardText: number;
  /** One of so many first attempts fails and is tried again; 0 for none. */
  readonly failEvery: number;
  readonly attemptText: number;
  /** Executions planned and opened in one statement. */
  readonly planBatch: number;
  /** Shards claimed, and completed, in one statement. */
  readonly claimBatch: number;
  /** A checkpoint each time so many shards are done; 0 for none. */
  readonly checkpointEvery: number;
  /** Months that the load spreads over, one after the other, the same in each. */
  readonly months: number;
  /** Oldest months that are dropped at the end. */
  readonly dropMonths: number;
}

const everyNth = [1, 2, 3, 5, 7] as const;

/** The jobs, numbered from 1, that run in a round, numbered from 0. Jobs do not all run equally often, as in life. */
export function jobsOfRound({ jobs }: RecordPattern, round: number): number[] {
  const running: number[] = [];
  for (let job = 1; job <= jobs; job++) if (round % everyNth[job % everyNth.length]! === 0) running.push(job);
  return running;
}

/** Executions of one month of the load. */
export function executionsPerMonth(pattern: RecordPattern): number {
  let count = 0;
  for (let round = 0; round < pattern.rounds; round++) count += jobsOfRound(pattern, round).length;
  return count;
}

/** Shards of one month of the load. */
export function shardsPerMonth(pattern: RecordPattern): number {
  return executionsPerMonth(pattern) * pattern.shards;
}

/** Vacuum is started as autovacuum would: after 50 rows and a fifth of the table. */
export const recordVacuum = { threshold: 50, scale: 0.2 } as const;
/** The live tables have thresholds of their own in the schema. */
export const shardLiveVacuum = { threshold: 20_000, scale: 0 } as const;
export const executionLiveVacuum = { threshold: 5_000, scale: 0 } as const;

/** True for the first attempts that fail, by their number from 1. */
export function fails(pattern: RecordPattern, firstAttempt: number): boolean {
  return pattern.failEvery > 0 && firstAttempt % pattern.failEvery === 0;
}
