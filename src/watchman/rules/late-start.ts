/**
 * Started late, or still not started, by more than five minutes. Manual runs
 * have no time of their own. What waits in line by its blocking policy is late,
 * too: it should have run by now.
 */
import type { Finding } from "../finding.ts";
import type { LiveExecution } from "../picture.ts";
import { howLong } from "./missing-success.ts";
import { about, argument, commonCause, instant, type Rule } from "./rule.ts";

export const lateStart: Rule = (picture, settings) => {
  const findings: Finding[] = [];
  for (const job of picture.jobs) {
    const late = job.live
      .map((live) => ({ live, lateMs: lateness(live, picture.now.getTime()) }))
      .filter(({ lateMs }) => lateMs > settings.lateStartMs);
    if (late.length === 0) continue;
    const worst = late.reduce((a, b) => (b.live.fireTime < a.live.fireTime ? b : a));
    const { live, lateMs } = worst;
    const fireMs = live.fireTime.getTime();
    const how = live.startedAt ? "started" : live.state === "held" ? "waits in line" : "has not started";
    findings.push({
      rule: "late-start",
      key: `late-start:${job.jobId}:${instant(fireMs)}`,
      severity: "warning",
      ...about(job, fireMs),
      message: `${job.job}: the fire of ${instant(fireMs)} ${how}, ${howLong(lateMs)} late${late.length > 1 ? `; ${late.length} fires are late` : ""}`,
      evidence: {
        lateMs,
        state: live.state,
        status: live.status,
        trigger: live.trigger,
        openedAt: live.openedAt,
        startedAt: live.startedAt,
        count: late.length,
      },
      ...(live.startedAt ? {} : commonCause(picture, settings, live.openedAt !== null)),
      hint: `escapement explain-fire ${argument(job.job)} ${instant(fireMs)}`,
    });
  }
  return findings;
};

/** By how much it is late; 0 for what is planned (see `not-opened`) or was run by hand. */
function lateness(live: LiveExecution, nowMs: number): number {
  if (live.trigger === "manual" || live.state === "planned") return 0;
  if (live.missedSeconds !== null && live.startedAt) return live.missedSeconds * 1000;
  return nowMs - live.fireTime.getTime();
}
