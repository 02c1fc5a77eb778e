/**
 * Which fires of one job belong between its cursor and the horizon, and what
 * becomes of those that are already late. Pure: the store's time comes in as an
 * argument, no clock is read.
 */
import { jobSchedule } from "../schedule/job-schedule.ts";
import { decideMisfires } from "../schedule/misfire.ts";
import { periodKey } from "../spec/period.ts";
import type { PlannedFire, PlannedJob, PlanningJob, VersionedDefinition } from "../store/planning.ts";

/** How far a cursor may move over time without fires. Keeps rarely firing jobs cheap, and clock steps harmless. */
const maxLeapMs = 3_600_000;
/** More fires than this are taken in several passes. */
const maxFiresPerPass = 1_000_000;

/**
 * Plans one job from its cursor to `horizonMs` (later, if nothing fires before).
 * Every fire in between is in the result: planned, or missed with the reason.
 * @param versions the definitions in force from the cursor on, oldest first; the last is the current one.
 */
export function planJob(
  job: PlanningJob,
  versions: readonly VersionedDefinition[],
  nowMs: number,
  horizonMs: number,
): PlannedJob {
  const fromMs = job.plannedUntil.getTime();
  const fires: PlannedFire[] = [];
  let catchingUp = job.catchingUp;
  let chainAfter = job.lastCatchUp;
  let toMs = horizonMs;
  for (const [index, version] of versions.entries()) {
    const next = versions[index + 1];
    const startMs = Math.max(fromMs, index === 0 ? fromMs : version.effectiveFrom.getTime());
    const endMs = Math.min(horizonMs, next ? next.effectiveFrom.getTime() : horizonMs);
    if (endMs <= startMs) continue;
    const found = jobSchedule(version.definition)?.between(startMs, endMs, maxFiresPerPass) ?? [];
    const truncated = found.length === maxFiresPerPass;
    for (const fire of judge(version, found, nowMs, catchingUp, truncated)) {
      if (fire.triggerType === "misfire" && fire.status === "planned") {
        fires.push({ ...fire, chainAfter });
        chainAfter = fire.fireTime;
        catchingUp += 1;
      } else {
        fires.push(fire);
      }
    }
    if (truncated) {
      toMs = found.at(-1)!;
      break;
    }
  }
  if (fires.length === 0 && toMs === horizonMs) toMs = leap(versions.at(-1)!, horizonMs, nowMs);
  const missedSince = fires.find((fire) => fire.status === "missed")?.fireTime;
  return {
    jobId: job.jobId,
    version: job.version,
    from: job.plannedUntil,
    to: new Date(toMs),
    ...(missedSince ? { missedSince } : {}),
    fires,
  };
}

/** What becomes of the fires of one version. */
function judge(
  version: VersionedDefinition,
  foundMs: readonly number[],
  nowMs: number,
  alreadyCatchingUp: number,
  truncated: boolean,
): PlannedFire[] {
  const { misfire, catchUp, period, timeZone } = version.definition;
  const decisions = decideMisfires({
    policy: misfire.policy,
    thresholdMs: misfire.thresholdMs,
    ...(misfire.policy === "within-window" ? { windowMs: misfire.windowMs } : {}),
    // The newest fires are not among those of a pass that was cut short.
    catchUp: truncated && catchUp.keep === "newest" ? { ...catchUp, maxFires: 0 } : catchUp,
    lateFiresMs: foundMs,
    nowMs,
    alreadyCatchingUp,
  });
  return decisions.map((decision) => {
    const fireTime = new Date(decision.fireMs);
    const planned = decision.decision === "run";
    return {
      fireTime,
      status: planned ? "planned" : "missed",
      triggerType: decision.misfired && planned ? "misfire" : "schedule",
      reason: planned ? null : (decision.reason ?? null),
      periodKey: planned && period ? periodKey(period, timeZone, fireTime) : null,
      chainAfter: null,
      definition: version,
    };
  });
}

/** The instant before the next fire, so that a job which fires once a month is not planned every minute. */
function leap(current: VersionedDefinition, horizonMs: number, nowMs: number): number {
  const farthestMs = Math.max(horizonMs, nowMs + maxLeapMs);
  const nextMs = jobSchedule(current.definition)?.next(horizonMs) ?? null;
  return nextMs === null ? farthestMs : Math.min(nextMs - 1, farthestMs);
}

/** Cuts a plan into pieces of at most `maxFires` fires, in order; each moves the cursor a little further. */
export function* pieces(
  job: PlannedJob,
  maxRows: number,
  rowsOf: (fire: PlannedFire) => number,
): Generator<PlannedJob> {
  let from = job.from;
  let fires: PlannedFire[] = [];
  let rows = 1;
  for (const [index, fire] of job.fires.entries()) {
    if (fires.length > 0 && rows + rowsOf(fire) > maxRows) {
      const to = job.fires[index - 1]!.fireTime;
      yield { ...job, from, to, fires };
      from = to;
      fires = [];
      rows = 1;
    }
    fires.push(fire);
    rows += rowsOf(fire);
  }
  yield { ...job, from, fires };
}
