/** What `capacity verify` hands out. */

export interface VerifyLoad {
  readonly name: string;
  readonly pattern: Readonly<Record<string, unknown>>;
  /** Rows of executions, shards and attempts that were inserted. */
  readonly rows: number;
  readonly shards: number;
  readonly seconds: number;
  /** Bytes for each shard that was loaded. */
  readonly forecast: Readonly<Record<"heap" | "index" | "wal", number>>;
  readonly measured: Readonly<Record<"heap" | "index" | "wal", number>>;
  /** Forecast over measured, minus one. */
  readonly error: Readonly<Record<"heap" | "index" | "wal", number>>;
}

export interface CommitRate {
  readonly sessions: number;
  readonly commitsPerSecond: number;
  readonly flushesPerSecond: number;
  readonly commitsPerFlush: number;
  /** Commits a flush that the disk calculator reckons with. */
  readonly model: number;
}

export interface VerifyReport {
  readonly server: string;
  readonly seed: number;
  readonly scale: number;
  readonly forecastFile: string;
  /** All loads together. */
  readonly rows: number;
  readonly limits: Readonly<Record<"heap" | "index" | "wal", number>>;
  readonly loads: readonly VerifyLoad[];
  readonly commits: readonly CommitRate[];
  readonly passed: boolean;
}
