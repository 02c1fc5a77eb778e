/** A rule: a question with a yes or no for every job, shard or process of a picture. */
import type { Finding } from "../finding.ts";
import type { Picture, WatchedJob } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";

/** Pure: no clock, no store, no memory. */
export type Rule = (picture: Picture, settings: WatchSettings) => Finding[];

/** The part of a finding that names the job. */
export function about(
  job: WatchedJob,
  fireMs?: number,
): Pick<Finding, "jobId" | "job"> & { fireTime?: Date } {
  return { jobId: job.jobId, job: job.job, ...(fireMs === undefined ? {} : { fireTime: new Date(fireMs) }) };
}

/** An instant as people and keys read it. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** How a person names a job on the command line. */
export function argument(job: string): string {
  return job.startsWith("default/") ? job.slice("default/".length) : job;
}

/** True while nobody holds the lease, for longer than a change of leader may take. */
export function leaderIsAbsent(picture: Picture, settings: WatchSettings): boolean {
  return picture.leader.expiresAt.getTime() < picture.now.getTime() - settings.leaderAbsentMs;
}

/** True when no executor that takes jobs holds a living lease. */
export function executorsAreAbsent(picture: Picture): boolean {
  return !picture.executors.some(
    ({ state, leaseUntil, controlOnly }) => state === "active" && !controlOnly && leaseUntil > picture.now,
  );
}

/** The common cause of work that does not go on, where there is one. */
export function commonCause(picture: Picture, settings: WatchSettings, opened: boolean): { cause?: string } {
  if (!opened && leaderIsAbsent(picture, settings)) return { cause: "no-leader" };
  if (executorsAreAbsent(picture)) return { cause: "no-executor" };
  return {};
}
