/**
 * A fire that is not open a minute after its time, however long its period: a
 * monthly payout must not wait half a month for its alarm.
 *
 * Two ways: its row is still planned although it is due, or the scheduler has
 * not come as far as planning it. A fire that is missing although the scheduler
 * has gone past it is another trouble, see `fire-gap`.
 */
import type { Finding } from "../finding.ts";
import type { Picture, WatchedJob } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { howLong } from "./missing-success.ts";
import { about, argument, commonCause, instant, type Rule } from "./rule.ts";

export const notOpened: Rule = (picture, settings) => {
  const overdueMs = picture.now.getTime() - settings.openWithinMs;
  const absent = absentByJob(picture);
  const findings: Finding[] = [];
  for (const job of picture.jobs) {
    const planned = job.live
      .filter((live) => live.state === "planned" && !live.chained && live.dueAt.getTime() < overdueMs)
      .map((live) => live.fireTime.getTime());
    const unplanned = (absent.get(job.jobId) ?? []).filter((fireMs) => fireMs > job.plannedUntil.getTime());
    if (planned.length + unplanned.length === 0) continue;
    const first = Math.min(...planned, ...unplanned);
    findings.push(describe(job, first, planned.length, unplanned.length, picture, settings));
  }
  return findings;
};

/** Expected fires without a row, by job, oldest first. */
export function absentByJob(picture: Picture): Map<number, number[]> {
  const byJob = new Map<number, number[]>();
  for (const { jobId, fireTime } of picture.absentFires) {
    const fires = byJob.get(jobId);
    if (fires) fires.push(fireTime.getTime());
    else byJob.set(jobId, [fireTime.getTime()]);
  }
  for (const fires of byJob.values()) fires.sort((a, b) => a - b);
  return byJob;
}

function describe(
  job: WatchedJob,
  fireMs: number,
  planned: number,
  unplanned: number,
  picture: Picture,
  settings: WatchSettings,
): Finding {
  const count = planned + unplanned;
  const more = count > 1 ? `, and ${count - 1} more` : "";
  return {
    rule: "not-opened",
    key: `not-opened:${job.jobId}:${instant(fireMs)}`,
    severity: "critical",
    ...about(job, fireMs),
    message: `${job.job} was due at ${instant(fireMs)}${more}, ${howLong(picture.now.getTime() - fireMs)} ago, and is not open`,
    evidence: { planned, unplanned, plannedUntil: instant(job.plannedUntil.getTime()) },
    ...commonCause(picture, settings, false),
    hint: `escapement explain-fire ${argument(job.job)} ${instant(fireMs)}`,
  };
}
