/**
 * No success where one should be.
 *
 * A fire owes its success 1.5 periods after the success before it, that is half
 * a period after its own time, plus the job's grace. A run that is under way and
 * healthy is given one and a half times its usual duration from its start.
 * Blocked and cancelled fires owe nothing: somebody, or a policy, decided so.
 */
import { formatDuration } from "../../base/duration.ts";
import { expectedFires, periodAt } from "../expected-fires.ts";
import type { Finding } from "../finding.ts";
import type { Picture, WatchedExecution, WatchedJob } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { about, argument, commonCause, instant, type Rule } from "./rule.ts";

/** As many cancelled or blocked fires without any success are an outage, whoever decided them. */
const excusedInARow = 3;
/** Successes are looked for among that many executions; see {@link WatchedJob.sinceSuccess}. */
const lookAhead = 21;

export const missingSuccess: Rule = (picture, settings) => {
  const findings: Finding[] = [];
  for (const job of picture.jobs) {
    if (job.state !== "active") continue;
    const owed = firstOwed(job, picture.now.getTime());
    if (owed === null) continue;
    const dueMs = successDueAt(job, owed, settings);
    if (picture.now.getTime() <= dueMs) continue;
    findings.push(describe(job, owed, dueMs, picture, settings));
  }
  return findings;
};

/** The oldest due fire after the last success that still owes one. */
function firstOwed(job: WatchedJob, nowMs: number): number | null {
  const sinceMs = job.lastSuccess?.fireTime.getTime() ?? job.knownSince.getTime();
  let excused = 0;
  for (const fireMs of expectedFires(job, sinceMs, nowMs, lookAhead)) {
    const status = executionAt(job, fireMs)?.status;
    if (status !== "blocked" && status !== "cancelled") return fireMs;
    excused += 1;
    if (excused >= excusedInARow) return fireMs;
  }
  return null;
}

/** When the success of a fire is due, in milliseconds. */
export function successDueAt(job: WatchedJob, fireMs: number, settings: WatchSettings): number {
  const { graceMs } = settings.limitsOf(job.job);
  const periodMs = periodAt(job, fireMs);
  const ownMs = fireMs + (settings.successPeriods - 1) * periodMs;
  // An older run that hangs says nothing about this fire.
  const sinceMs = job.lastSuccess?.fireTime.getTime() ?? Number.NEGATIVE_INFINITY;
  const started = job.live.findLast(
    ({ state, startedAt, fireTime }) =>
      state === "open" && startedAt !== null && fireTime.getTime() > sinceMs && fireTime.getTime() <= fireMs,
  )?.startedAt;
  if (!started) return ownMs + graceMs;
  const allowedMs = job.baseline?.slowMs != null ? job.baseline.slowMs * 1.5 : periodMs;
  return Math.max(ownMs, started.getTime() + allowedMs) + graceMs;
}

function executionAt(job: WatchedJob, fireMs: number): WatchedExecution | undefined {
  return job.sinceSuccess.find(({ fireTime }) => fireTime.getTime() === fireMs);
}

function describe(
  job: WatchedJob,
  fireMs: number,
  dueMs: number,
  picture: Picture,
  settings: WatchSettings,
): Finding {
  const execution = executionAt(job, fireMs);
  const last = job.lastSuccess?.fireTime;
  const status = execution?.status ?? "there is no record of it";
  return {
    rule: "missing-success",
    key: `missing-success:${job.jobId}:${instant(fireMs)}`,
    severity: "critical",
    ...about(job, fireMs),
    message:
      `${job.job} has not succeeded since ${last ? `the fire of ${instant(last.getTime())}` : "it is known"}: ` +
      `the fire of ${instant(fireMs)} should have by ${instant(dueMs)} (${status})`,
    evidence: {
      lastSuccess: last ?? null,
      dueAt: instant(dueMs),
      periodMs: periodAt(job, fireMs),
      status: execution?.status ?? null,
      since: job.sinceSuccess.length,
    },
    ...commonCause(picture, settings, execution?.openedAt != null),
    hint: `escapement explain-fire ${argument(job.job)} ${instant(fireMs)}`,
  };
}

/** For messages of other rules. */
export function howLong(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1000) * 1000));
}
