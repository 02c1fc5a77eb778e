/** The same picture as plain lines: one that sums up, and one for everything that is new since the last. Pure. */
import { formatInstant } from "../../base/instant.ts";
import type { ClusterLook } from "../../store/ui/cluster-look.ts";
import type { AlertLook, DrillsLook } from "../../store/ui/records-look.ts";
import { unnamedJobOf } from "../data/alert-job.ts";
import { allOf } from "../data/day.ts";
import type { JobsView } from "../data/jobs-view.ts";
import { bestWatchman, watchmanState } from "../data/watchmen.ts";
import { cleaned } from "../text/line.ts";
import { coarse } from "../text/time-text.ts";

export interface WatchPicture {
  readonly cluster: ClusterLook;
  readonly jobs: JobsView;
  readonly alerts: readonly AlertLook[];
  readonly drills: DrillsLook;
}

/** `2026-11-30T02:07:31.000Z  scheduler-1 leads, epoch 12 · today 148 due, 143 done, …`. */
export function summaryLine({ cluster, jobs, alerts, drills }: WatchPicture): string {
  const { leader, executors, work } = cluster;
  const { today, unplannedToday } = jobs;
  const live = executors.filter(
    ({ leaseLeftMs, state }) => leaseLeftMs > 0 && (state === "active" || state === "draining"),
  );
  const drill = drills.runs.find(({ endedAt }) => endedAt === null);
  const parts = [
    leader.alive ? `${leader.node} leads, epoch ${leader.epoch}` : `NOBODY LEADS, epoch ${leader.epoch}`,
    `${live.length} executors, ${work.shardsRunning} shards run, ${work.shardsWaiting} wait`,
    `today (UTC) ${allOf(today) + unplannedToday} due, ${today.done} done, ${today.running + today.waiting} open, ${today.late} late, ${today.failed} failed, ${today.missed + unplannedToday} missing, ${today.refused} refused`,
    ...(jobs.unreadable > 0 ? [`${jobs.unreadable} jobs whose schedule CANNOT BE READ here`] : []),
    ...watchmenParts(cluster),
    `${alerts.length} alerts${alertsAsOf(cluster)}`,
    ...(drill ? [`drill ${drill.drill}: ${drill.state}`] : []),
    ...(drills.halt ? ["drills are halted"] : []),
  ];
  return `${formatInstant(cluster.now)}  ${parts.join(" · ")}`;
}

/** Alerts are as old as the last look of whoever raises them. */
function watchmenParts({ watchmen }: ClusterLook): string[] {
  if (watchmen.length === 0) return ["no watchman"];
  return watchmen.map((one) => {
    const { state, looked } = watchmanState(one);
    if (state === "silent") return `watchman ${one.node} SILENT for ${coarse(one.passMsAgo)}`;
    return `watchman ${one.node}${state === "stopped" ? " STOPPED," : ""} ${looked}`;
  });
}

/** Where no watchman watches nobody keeps the alerts up to date. */
function alertsAsOf({ watchmen }: ClusterLook): string {
  const best = bestWatchman(watchmen);
  return best && watchmanState(best).state !== "watches"
    ? ` as of ${coarse(Math.max(0, best.passMsAgo))} ago`
    : "";
}

/** What has a line of its own, by a key that does not change while it lasts. */
export function newsOf({ cluster, jobs, alerts, drills }: WatchPicture): Map<string, string> {
  const news = new Map<string, string>();
  for (const { jobId, label, problem, state } of jobs.jobs)
    if (problem !== null && state === "active")
      news.set(`problem ${jobId} ${problem}`, `UNREADABLE  ${label}: ${oneLine(problem)}`);
  // Oldest first, as lines are read.
  for (const { jobId, label, fireMs, status, reason } of [...jobs.trouble].reverse())
    news.set(
      `fire ${jobId} ${fireMs} ${status}`,
      `${status.toUpperCase()}  ${label} at ${formatInstant(new Date(fireMs))}${reason ? `: ${oneLine(reason)}` : ""}`,
    );
  for (const { key, severity, message, firstAt, job, fireTime } of [...alerts].reverse()) {
    const label = unnamedJobOf({ job, message });
    const of = label === null ? "" : `${label}${fireTime ? ` at ${formatInstant(fireTime)}` : ""}: `;
    news.set(`alert ${key} ${firstAt.getTime()}`, `ALERT ${severity}  ${oneLine(`${of}${message}`)}`);
  }
  const dayAgoMs = cluster.now.getTime() - 86_400_000;
  for (const { runId, drill, state, verdict, reason, startedAt } of [...drills.runs].reverse())
    if (startedAt.getTime() > dayAgoMs)
      news.set(
        `drill ${runId} ${verdict ?? state}`,
        `DRILL  ${drill}: ${verdict ?? state}${reason ? `: ${oneLine(reason)}` : ""}`,
      );
  return news;
}

/** Text of others has no line breaks and no codes for terminals here, as on the screens. */
function oneLine(text: string): string {
  return cleaned(text).trim();
}
