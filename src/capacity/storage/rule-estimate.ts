/** The estimate a planner makes on paper, kept beside the model's so that the difference can be explained. */
import { type Figure, figure } from "../figure.ts";

export interface RuleEstimate {
  readonly perDay: Figure;
  readonly perYear: Figure;
  readonly withIndexAndLogLow: Figure;
  readonly withIndexAndLogHigh: Figure;
  readonly textLogsLow: Figure;
  readonly textLogsHigh: Figure;
}

const indexAndLog = { low: 2, high: 3 } as const;
const textLogs = { low: 5, high: 10 } as const;

/** @param rowBytes of one shard's record, with its summary. */
export function ruleEstimate(runsPerDay: number, shards: number, rowBytes: number): RuleEstimate {
  const perDay = runsPerDay * shards * rowBytes;
  const perYear = perDay * 365;
  const times = (factor: number) => `records of a year × ${factor}`;
  return {
    perDay: figure(
      "records a day, on paper",
      perDay,
      "bytes/day",
      `${runsPerDay} executions × ${shards} shards × ${rowBytes} bytes`,
      { runsPerDay, shards, rowBytes },
      "rule.record-size",
    ),
    perYear: figure(
      "records a year, on paper",
      perYear,
      "bytes",
      "records a day × 365",
      { perDay },
      "rule.record-size",
    ),
    withIndexAndLogLow: figure(
      "with index and log, low",
      perYear * indexAndLog.low,
      "bytes",
      times(indexAndLog.low),
      { perYear },
      "rule.index-and-log",
    ),
    withIndexAndLogHigh: figure(
      "with index and log, high",
      perYear * indexAndLog.high,
      "bytes",
      times(indexAndLog.high),
      { perYear },
      "rule.index-and-log",
    ),
    textLogsLow: figure(
      "text output a day, low",
      perDay * textLogs.low,
      "bytes/day",
      `records a day × ${textLogs.low}`,
      { perDay },
      "rule.text-logs",
    ),
    textLogsHigh: figure(
      "text output a day, high",
      perDay * textLogs.high,
      "bytes/day",
      `records a day × ${textLogs.high}`,
      { perDay },
      "rule.text-logs",
    ),
  };
}
