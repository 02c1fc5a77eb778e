/** What should have run, reckoned from the job files alone with the pure schedule evaluator. */
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { periodKey } from "../../spec/period.ts";
import { shardCount } from "../../spec/shard-count.ts";

export interface ExpectedFire {
  /** `namespace/name` */
  readonly job: string;
  readonly fireMs: number;
  readonly period: string | null;
  readonly shards: number;
  readonly trigger: "schedule" | "by-hand";
}

const dayMs = 86_400_000;

export function jobId(job: Pick<JobDefinition, "namespace" | "name">): string {
  return `${job.namespace}/${job.name}`;
}

/** The scheduled fires in (knownSince, pausedAt]. */
export function scheduledFires(job: JobDefinition, knownSince: Date, pausedAt: Date): ExpectedFire[] {
  const fires = jobSchedule(job)?.between(knownSince.getTime(), pausedAt.getTime()) ?? [];
  return fires.map((fireMs) => expectation(job, fireMs, "schedule"));
}

/** The one execution that a month is owed, once somebody has asked for it at `fireTime`. */
export function periodByHand(job: JobDefinition, period: string, fireTime: Date): ExpectedFire {
  return { ...expectation(job, fireTime.getTime(), "by-hand"), period };
}

/** The last `count` months whose fire was at least a day before `now`, ascending. */
export function lastPeriods(job: JobDefinition, count: number, now: Date): string[] {
  const schedule = jobSchedule(job);
  const periods: string[] = [];
  let before = now.getTime() - dayMs;
  while (schedule && job.period && periods.length < count) {
    const fireMs = schedule.previous(before);
    if (fireMs === null) break;
    periods.unshift(periodKey(job.period, job.timeZone, new Date(fireMs)));
    before = fireMs;
  }
  return periods;
}

function expectation(job: JobDefinition, fireMs: number, trigger: ExpectedFire["trigger"]): ExpectedFire {
  return {
    job: jobId(job),
    fireMs,
    period: job.period ? periodKey(job.period, job.timeZone, new Date(fireMs)) : null,
    shards: shardCount(job),
    trigger,
  };
}
