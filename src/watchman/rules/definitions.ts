/** Schedules that were edited, and definitions that changed without anybody applying them. */
import { whyUnreadable } from "../expected-fires.ts";
import type { Finding } from "../finding.ts";
import type { WatchedDefinition } from "../picture.ts";
import { about, argument, instant, type Rule } from "./rule.ts";

/** Said for a while, so that an edit nobody meant is seen before its first wrong fire. */
export const scheduleEdited: Rule = (picture, settings) => {
  const since = picture.now.getTime() - settings.editedForMs;
  const findings: Finding[] = [];
  for (const job of picture.jobs) {
    const after = job.definitions.at(-1);
    const before = job.definitions.at(-2);
    if (!after || !before || job.state === "deleted") continue;
    if (after.effectiveFrom.getTime() < since || when(before) === when(after)) continue;
    findings.push({
      rule: "schedule-edited",
      key: `schedule-edited:${job.jobId}:${after.version}`,
      severity: "info",
      ...about(job),
      message: `${job.job}: ${after.appliedBy} changed the schedule from ${when(before)} to ${when(after)} at ${instant(after.effectiveFrom.getTime())}`,
      evidence: { before: when(before), after: when(after), version: after.version, by: after.appliedBy },
      hint: `escapement jobs show ${argument(job.job)}`,
    });
  }
  return findings;
};

/** The watchman's own copy of the digests says otherwise: the records were changed behind everybody's back. */
export const definitionChanged: Rule = (picture) => {
  const jobs = new Map(picture.jobs.map((job) => [job.jobId, job]));
  return picture.tampered.map(({ jobId, version, was, is }) => {
    const job = jobs.get(jobId);
    const name = job?.job ?? `job ${jobId}`;
    return {
      rule: "definition-changed",
      key: `definition-changed:${jobId}:${version}`,
      severity: "critical",
      ...(job ? about(job) : { jobId }),
      message:
        is === null
          ? `${name}: version ${version} of its definition is gone from the records`
          : `${name}: version ${version} of its definition is another than when it was applied`,
      evidence: { version, was, is },
      hint: "escapement store status",
    };
  });
};

/** Nobody can say here when it fires, so nobody can miss its fires either. */
export const scheduleUnreadable: Rule = (picture) =>
  picture.jobs.flatMap((job) => {
    const inForce = job.definitions.at(-1);
    const reason = inForce && job.state === "active" ? whyUnreadable(inForce) : null;
    if (!inForce || reason === null) return [];
    return [
      {
        rule: "schedule-unreadable" as const,
        key: `schedule-unreadable:${job.jobId}:${inForce.version}`,
        severity: "critical" as const,
        ...about(job),
        message: `${job.job}: its fires are not watched, since nobody can say here when it fires: ${reason}`,
        evidence: {
          version: inForce.version,
          schedule: inForce.schedule,
          timeZone: inForce.timeZone,
          reason,
        },
        hint: `escapement jobs show ${argument(job.job)}`,
      },
    ];
  });

function when({ schedule, timeZone, dstGap, dstOverlap }: WatchedDefinition): string {
  const what =
    schedule.kind === "cron"
      ? schedule.cron
      : schedule.kind === "every"
        ? `every ${schedule.everyMs} ms`
        : "manual";
  return [what, timeZone, dstGap, dstOverlap].filter((part) => part !== undefined).join(" ");
}
