/** What the jobs owed in a drill, from their definitions and database time alone. Pure. */
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { shardCount } from "../../spec/shard-count.ts";
import type { RecordedExecution, RecordedJob } from "../../store/drill/drill-records.ts";
import type { Obligation } from "../history.ts";

/** A fire this close to the instant of a pause may go either way. */
const tieMs = 250;
/** Fires planned ahead when a job was stopped must have been taken back. */
const aheadMs = 300_000;

/** Every fire of a probe job from when it was known to long after it was stopped. */
export function probeObligations(
  job: RecordedJob,
  nth: { readonly mode: Obligation["mode"]; readonly fenceOnly: boolean },
): Obligation[] {
  const { definition } = job;
  const schedule = jobSchedule(definition);
  const stoppedMs = job.state === "active" ? Number.POSITIVE_INFINITY : job.stateSince.getTime();
  const fromMs = job.knownSince.getTime();
  const toMs = Math.min(stoppedMs + aheadMs, fromMs + 86_400_000);
  return (schedule?.between(fromMs, toMs) ?? []).map((atMs) => {
    const fire = {
      job: job.job,
      fireTime: new Date(atMs).toISOString(),
      shardCount: shardCount(definition),
      mode: nth.mode,
      misfire: { policy: "run-now" as const, graceMs: definition.misfire.thresholdMs },
      ...(nth.fenceOnly ? { fenceOnly: true } : {}),
    };
    const sinceMs = atMs - stoppedMs;
    if (Math.abs(sinceMs) <= tieMs) return { ...fire, allowed: "at-most-one" };
    if (sinceMs < 0) return { ...fire, allowed: "exactly-one" };
    return { ...fire, allowed: "none", because: "revoked" };
  });
}

export interface Span {
  readonly from: Date;
  readonly to: Date;
}

/**
 * What other people's jobs owed within a span, to be judged by the records
 * alone. Each may end without success if a record says why. A job whose
 * definition or state changed meanwhile is left out, and so is a fire that still
 * runs.
 */
export function otherObligations(
  jobs: readonly RecordedJob[],
  executions: readonly RecordedExecution[],
  { from, to }: Span,
): { readonly obligations: Obligation[]; readonly leftOut: string[] } {
  const running = new Set(
    executions
      .filter(({ status }) => ["planned", "pending", "running", "interrupted"].includes(status))
      .map(({ job, fireTime }) => `${job} ${fireTime.getTime()}`),
  );
  const manual = new Set(
    executions.filter(({ trigger }) => trigger === "manual").map((e) => `${e.job} ${e.fireTime.getTime()}`),
  );
  const leftOut: string[] = [];
  const obligations: Obligation[] = [];
  for (const job of jobs) {
    const steady = job.state === "active" && job.stateSince <= from && job.effectiveFrom <= from;
    const schedule = steady ? jobSchedule(job.definition) : null;
    if (!schedule) {
      leftOut.push(job.job);
      continue;
    }
    const { misfire, blocking } = job.definition;
    for (const atMs of schedule.between(from.getTime(), to.getTime())) {
      const key = `${job.job} ${atMs}`;
      if (running.has(key) || manual.has(key)) continue;
      obligations.push({
        job: job.job,
        fireTime: new Date(atMs).toISOString(),
        shardCount: shardCount(job.definition),
        allowed: "at-most-one",
        mode: "once",
        recordsOnly: true,
        // Time spent in line does not count as lateness, and the records do not tell the two apart.
        ...(blocking.policy === "queue" ? {} : { misfire: misfireOf(misfire) }),
      });
    }
  }
  return { obligations, leftOut };
}

function misfireOf(misfire: JobDefinition["misfire"]): NonNullable<Obligation["misfire"]> {
  const { policy, thresholdMs: graceMs } = misfire;
  return policy === "within-window" ? { policy, graceMs, windowMs: misfire.windowMs } : { policy, graceMs };
}

/** Fires of other jobs that the records hold and that can be judged: not by hand, not running, not of a job that was left out. */
export function judgeable(
  executions: readonly RecordedExecution[],
  leftOut: readonly string[],
): RecordedExecution[] {
  const out = new Set(leftOut);
  return executions.filter(
    ({ job, trigger, status }) =>
      !out.has(job) &&
      trigger !== "manual" &&
      !["planned", "pending", "running", "interrupted"].includes(status),
  );
}
