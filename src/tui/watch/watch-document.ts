/** The picture as a document for programs. Fields may be added, never renamed. */
import { allOf } from "../data/day.ts";
import type { WatchPicture } from "./watch-lines.ts";

export function watchDocument({ cluster, jobs, alerts, drills }: WatchPicture): Record<string, unknown> {
  const { today, unplannedToday, trouble } = jobs;
  return {
    now: cluster.now,
    leader: cluster.leader,
    schedulers: cluster.schedulers,
    executors: cluster.executors,
    watchmen: cluster.watchmen,
    work: cluster.work,
    jobs: jobs.jobs.length,
    unreadable: jobs.jobs.flatMap(({ label, problem, state }) =>
      problem !== null && state === "active" ? [{ job: label, reason: problem }] : [],
    ),
    today: {
      ...today,
      due: allOf(today) + unplannedToday,
      missing: today.missed + unplannedToday,
      withoutRecord: unplannedToday,
    },
    trouble: trouble.map(({ label, fireMs, status, reason }) => ({
      job: label,
      fireTime: new Date(fireMs),
      status,
      reason,
    })),
    alerts,
    drill: drills.runs.find(({ endedAt }) => endedAt === null) ?? null,
    halt: drills.halt,
  };
}
