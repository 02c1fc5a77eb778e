/**
 * A fire that will not be done by its deadline if it takes as long as usual. It
 * is said at least half an hour ahead, unless the usual run leaves less than that.
 */
import { expectedFires } from "../expected-fires.ts";
import type { Finding } from "../finding.ts";
import type { WatchedJob } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { about, argument, commonCause, instant, type Rule } from "./rule.ts";

export const deadlineAtRisk: Rule = (picture, settings) => {
  const nowMs = picture.now.getTime();
  const findings: Finding[] = [];
  for (const job of picture.jobs) {
    const { deadlineMs } = settings.limitsOf(job.job);
    if (deadlineMs === null || job.state !== "active") continue;
    for (const fireMs of unfinished(job, nowMs, deadlineMs)) {
      const risk = riskOf(job, fireMs, nowMs, deadlineMs, settings);
      if (!risk) continue;
      const byMs = fireMs + deadlineMs;
      const passed = nowMs > byMs;
      findings.push({
        rule: "deadline-at-risk",
        key: `deadline-at-risk:${job.jobId}:${instant(fireMs)}`,
        severity: "critical",
        ...about(job, fireMs),
        message: passed
          ? `${job.job}: the fire of ${instant(fireMs)} has passed its deadline ${instant(byMs)}`
          : `${job.job}: the fire of ${instant(fireMs)} must be done by ${instant(byMs)} and is expected at ${instant(risk.endMs)}`,
        evidence: {
          deadline: instant(byMs),
          expectedEnd: instant(risk.endMs),
          startedAt: risk.startedAt,
          usualMs: risk.usualMs,
        },
        ...(risk.startedAt ? {} : commonCause(picture, settings, false)),
        hint: `escapement explain-fire ${argument(job.job)} ${instant(fireMs)}`,
      });
      break;
    }
  }
  return findings;
};

/** Due fires after the last success that can still meet a deadline, or have just failed to. */
function unfinished(job: WatchedJob, nowMs: number, deadlineMs: number): number[] {
  const sinceMs = job.lastSuccess?.fireTime.getTime() ?? job.knownSince.getTime();
  return expectedFires(job, Math.max(sinceMs, nowMs - 2 * deadlineMs), nowMs, 20).filter((fireMs) => {
    const status = job.sinceSuccess.find(({ fireTime }) => fireTime.getTime() === fireMs)?.status;
    return status !== "blocked" && status !== "cancelled";
  });
}

function riskOf(
  job: WatchedJob,
  fireMs: number,
  nowMs: number,
  deadlineMs: number,
  settings: WatchSettings,
): { endMs: number; startedAt: Date | null; usualMs: number } | null {
  const usualMs = job.baseline?.medianMs ?? 0;
  const startedAt = job.live.find(({ fireTime }) => fireTime.getTime() === fireMs)?.startedAt ?? null;
  const endMs = startedAt ? Math.max(nowMs, startedAt.getTime() + usualMs) : nowMs + usualMs;
  const slackMs = Math.max(0, deadlineMs - usualMs);
  const aheadMs = Math.min(settings.atRiskAheadMs, slackMs / 2);
  return endMs >= fireMs + deadlineMs - aheadMs ? { endMs, startedAt, usualMs } : null;
}
