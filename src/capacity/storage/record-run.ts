/** What is under way in a simulation of records: open executions, and shards that wait or run. */

export interface RunningExecution {
  readonly job: number;
  readonly key: number;
  readonly due: number;
  row: number;
  live: number;
  started: boolean;
  left: number;
  readonly shards: number[];
}

export interface QueuedShard {
  readonly execution: RunningExecution;
  readonly shard: number;
  live: number;
  tries: number;
}
