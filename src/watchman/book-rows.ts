/** Between the rows of the store and the alerts of the book. */
import type { BookRow } from "../store/watch/alert-book.ts";
import type { BookAlert, Observation } from "./alert.ts";

export function fromRow(row: BookRow): BookAlert {
  const { jobId, job, fireTime, cause, hint, evidence, count: _count, acknowledgedBy: _by, ...same } = row;
  return {
    ...same,
    ...(jobId !== null && { jobId }),
    ...(job !== null && { job }),
    ...(fireTime !== null && { fireTime }),
    ...(cause !== null && { cause }),
    hint: hint ?? hintOf(row),
    evidence: evidence ?? {},
  };
}

export function toRow(alert: BookAlert): Omit<BookRow, "count" | "acknowledgedBy"> {
  return {
    ...alert,
    jobId: alert.jobId ?? null,
    job: alert.job ?? null,
    fireTime: alert.fireTime ?? null,
    cause: alert.cause ?? null,
  };
}

/**
 * What other processes have noted, as if this pass had seen it. A note about an
 * execution that a finding is about as well adds nothing.
 * @param notedSince older ones are history
 */
export function notedObservations(
  rows: readonly BookRow[],
  findings: readonly Observation[],
  notedSince: Date,
): Observation[] {
  const place = (jobId: number, fireTime: Date) => `${jobId} ${fireTime.getTime()}`;
  const keys = new Set(findings.map(({ key }) => key));
  const places = new Set(
    findings.flatMap((one) =>
      one.jobId !== undefined && one.fireTime !== undefined ? [place(one.jobId, one.fireTime)] : [],
    ),
  );
  return rows
    .filter((row) => !row.watched && row.lastSeen > notedSince)
    .filter((row) => row.resolved === null || row.lastSeen > row.resolved)
    .filter((row) => !keys.has(row.key))
    .filter(
      (row) => row.jobId === null || row.fireTime === null || !places.has(place(row.jobId, row.fireTime)),
    )
    .map((row) => {
      const { rule, key, severity, message, evidence, hint, jobId, job, fireTime } = fromRow(row);
      return {
        ...{ rule, key, severity, message, evidence, hint, noted: true },
        ...(jobId !== undefined && { jobId }),
        ...(job !== undefined && { job }),
        ...(fireTime !== undefined && { fireTime }),
      };
    });
}

function hintOf({ job, fireTime }: BookRow): string {
  if (job === null) return "escapement status";
  if (fireTime === null) return `escapement executions --job ${job}`;
  return `escapement shards ${job} ${fireTime.toISOString()}`;
}
