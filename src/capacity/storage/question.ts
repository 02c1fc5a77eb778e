/** What the storage calculator is asked, what it assumes, and what it refuses. */
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";

const day = 86_400_000;

export interface StorageQuestion {
  readonly runsPerDay: number;
  readonly shards: number;
  /** Bytes of data in one shard's record, with its message or summary. */
  readonly rowBytes: number;
  readonly jobs: number;
  readonly retryShare: number;
  readonly retentionMonths: number;
  readonly growthPerYear: number;
  readonly archiveDays: number;
  /** Time between checkpoints, PostgreSQL's `checkpoint_timeout`, ms. */
  readonly checkpointMs: number;
  /** Shards completed in one statement. */
  readonly batch: number;
  /** Part of the day's work in the busiest window, and its length. */
  readonly busiestShare: number;
  readonly busiestMs: number;
  /** A standby may be away this long; the log is kept for it, ms. */
  readonly standbyAwayMs: number;
}

export const storageDefaults = {
  jobs: 100,
  retryShare: 0.01,
  retentionMonths: 13,
  growthPerYear: 0,
  archiveDays: 14,
  checkpointMs: 300_000,
  batch: 8,
  busiestShare: 0.4,
  busiestMs: 600_000,
  standbyAwayMs: 3 * day,
} as const;

/** @throws E_BAD_VALUE for input without sense */
export function checkQuestion(question: StorageQuestion): void {
  const rules: readonly [keyof StorageQuestion, string, number, number][] = [
    ["runsPerDay", "--runs-per-day", 0.001, 1e8],
    ["shards", "--shards", 1, 10_000],
    ["rowBytes", "--row-bytes", 1, 1_000_000],
    ["jobs", "--jobs", 1, 1_000_000],
    ["retryShare", "--retry-share", 0, 5],
    ["retentionMonths", "--retention-months", 1, 120],
    ["growthPerYear", "--growth", -0.9, 100],
    ["archiveDays", "--archive-days", 0, 3_650],
    ["checkpointMs", "--checkpoint", 30_000, day],
    ["batch", "--batch", 1, 2_000],
    ["busiestShare", "--busiest-share", 0.0001, 1],
    ["busiestMs", "--busiest-within", 1_000, day],
    ["standbyAwayMs", "--standby-away", 0, 365 * day],
  ];
  for (const [key, option, least, most] of rules) {
    const value = question[key];
    if (!Number.isFinite(value) || value < least || value > most) {
      throw new EscapementError("E_BAD_VALUE", {
        option,
        value: key.endsWith("Ms") ? formatDuration(value) : value,
        expected: key.endsWith("Ms")
          ? `from ${formatDuration(least)} to ${formatDuration(most)}`
          : `from ${least} to ${most}`,
        hint: "run with --help to see what it means",
      });
    }
  }
  if (!Number.isInteger(question.shards)) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--shards",
      value: question.shards,
      expected: "a whole number",
      hint: "an execution has whole shards",
    });
  }
}
