/**
 * Stops every scheduler and executor for long enough that each misfire policy
 * has to decide something, and starts them again.
 */
import { sleep } from "../../base/monotonic.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { readStoreTime } from "../../store/store-time.ts";
import type { StopInterval } from "./judge-fires.ts";
import { type Stage, waitFor } from "./stage.ts";

/** Longer than what is needed, so that a fire is clearly too old and not just about. */
const marginMs = 500;
const startDeadlineMs = 60_000;

export interface PlannedStop extends StopInterval {
  /** When it was begun, in milliseconds since the demo began. */
  readonly atMs: number;
}

/** @param jobs those whose misfire policies are to be seen at work */
export async function stopEverything(stage: Stage, jobs: readonly JobDefinition[]): Promise<PlannedStop> {
  const { cluster } = stage;
  const atMs = stage.elapsedMs();
  stage.progress("stopping every scheduler and executor, as for maintenance");
  await Promise.all(cluster.nodes.map((node) => node.stop()));
  const stoppedMs = (await readStoreTime(cluster.store)).getTime();
  const untilMs = Math.max(...jobs.map((job) => decisiveMs(job, stoppedMs)));
  const downMs = untilMs + marginMs - stoppedMs;
  stage.progress(`nobody runs; jobs come due all the same; waiting ${(downMs / 1_000).toFixed(1)} s`);
  await sleep(downMs, stage.signal);
  stage.signal.throwIfAborted();
  const startedMs = (await readStoreTime(cluster.store)).getTime();
  await Promise.all(cluster.nodes.map((node) => node.start()));
  await Promise.all(cluster.nodes.map((node) => cluster.ready(node.name)));
  await waitFor(stage, startDeadlineMs, async () => (await cluster.leader()) ?? null);
  const readyMs = (await readStoreTime(cluster.store)).getTime();
  stage.progress(`everything runs again, after ${((readyMs - stoppedMs) / 1_000).toFixed(1)} s`);
  return { atMs, stoppedMs, startedMs, readyMs };
}

/** When the first fire after the stop is too old for the job's policy. */
function decisiveMs(job: JobDefinition, stoppedMs: number): number {
  const first = jobSchedule(job)?.next(stoppedMs) ?? stoppedMs;
  const { misfire } = job;
  return first + (misfire.policy === "within-window" ? misfire.windowMs : misfire.thresholdMs);
}
