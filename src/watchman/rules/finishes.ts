/** Successes that look wrong: far too fast, far too few rows, or nearly as long as the period. */
import { periodAt, usualPeriodAt } from "../expected-fires.ts";
import type { Finding } from "../finding.ts";
import type { WatchedJob } from "../picture.ts";
import { howLong } from "./missing-success.ts";
import { about, argument, instant, type Rule } from "./rule.ts";

/** With fewer successes than this nothing is usual. */
const enough = 5;
/** What usually takes less than this has no speed to speak of. */
const leastMs = 5_000;
const leastRows = 20;

export const fastFinish: Rule = (picture, settings) =>
  finishes(picture.jobs).flatMap(({ job, tookMs, fireMs }) => {
    const usualMs = job.baseline?.medianMs ?? 0;
    if (usualMs < leastMs || tookMs >= usualMs * settings.fastShare) return [];
    return [
      {
        rule: "fast-finish" as const,
        key: `fast-finish:${job.jobId}:${instant(fireMs)}`,
        severity: "warning" as const,
        ...about(job, fireMs),
        message: `${job.job}: the fire of ${instant(fireMs)} succeeded in ${tookMs} ms; usual are ${howLong(usualMs)}`,
        evidence: { tookMs, usualMs, successes: job.baseline?.successes ?? 0 },
        hint: `escapement logs ${argument(job.job)} ${instant(fireMs)}`,
      },
    ];
  });

export const fewRows: Rule = (picture, settings) =>
  finishes(picture.jobs).flatMap(({ job, rows, fireMs }) => {
    const usual = job.baseline?.medianRows ?? 0;
    if (rows === null || usual < leastRows || rows >= usual * settings.fewRowsShare) return [];
    return [
      {
        rule: "few-rows" as const,
        key: `few-rows:${job.jobId}:${instant(fireMs)}`,
        severity: "warning" as const,
        ...about(job, fireMs),
        message: `${job.job}: the fire of ${instant(fireMs)} succeeded with ${rows} rows; usual are ${usual}`,
        evidence: { rows, usual, successes: job.baseline?.successes ?? 0 },
        hint: `escapement shards ${argument(job.job)} ${instant(fireMs)}`,
      },
    ];
  });

/** Judged by slow runs of the past and by the latest: soon fires will queue or be blocked. */
export const longDuration: Rule = (picture, settings) =>
  finishes(picture.jobs).flatMap(({ job, tookMs, fireMs }): Finding[] => {
    // Cheap first: most jobs are far from their period.
    if (tookMs <= periodAt(job, fireMs) * settings.nearPeriodShare) return [];
    const periodMs = usualPeriodAt(job, fireMs);
    const limitMs = periodMs * settings.nearPeriodShare;
    // One slow run is no trend; the slow end of the usual ones and the latest together are.
    if (!Number.isFinite(periodMs) || tookMs <= limitMs || (job.baseline?.slowMs ?? 0) <= limitMs) return [];
    return [
      {
        rule: "long-duration",
        key: `long-duration:${job.jobId}`,
        severity: "warning",
        ...about(job, fireMs),
        message: `${job.job} takes ${howLong(tookMs)} and fires every ${howLong(periodMs)}: it is about to overrun its next fire`,
        evidence: { tookMs, slowMs: job.baseline?.slowMs ?? null, periodMs },
        hint: `escapement executions --job ${argument(job.job)}`,
      },
    ];
  });

function finishes(
  jobs: readonly WatchedJob[],
): { job: WatchedJob; tookMs: number; rows: number | null; fireMs: number }[] {
  return jobs.flatMap((job) => {
    const { lastSuccess, baseline } = job;
    if (!lastSuccess?.startedAt || !lastSuccess.endedAt || !baseline || baseline.successes < enough)
      return [];
    const tookMs = lastSuccess.endedAt.getTime() - lastSuccess.startedAt.getTime();
    return [{ job, tookMs, rows: lastSuccess.rows, fireMs: lastSuccess.fireTime.getTime() }];
  });
}
