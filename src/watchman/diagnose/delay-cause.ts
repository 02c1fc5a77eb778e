/**
 * Why a fire was not planned, not opened or not started in time.
 *
 *   fire time ──planned before it?──opened at it?──started soon after?──▶
 *                no: leader            no: leader      no: executors
 *                or store              and executors
 *
 * The records keep no history of leaders and executors beyond their last row,
 * so an answer about the past may be the likely one only; it says so.
 */
import type { AlertSpan, ProcessLife, Surroundings } from "../../store/diagnose/surroundings.ts";
import type { Evidence } from "./diagnosis.ts";
import { executionEvidence, type Fire } from "./fire.ts";
import { type Reading, reading } from "./reading.ts";

/** The leader plans ahead; what it plans this long after the fire was not planned in time. */
const planSlackMs = 5_000;
/** How long before its fire a row is written at most by the ordinary look-ahead; steps are looked for around it. */
const stepSlackMs = 5_000;
const openSlackMs = 5_000;

export function causeOfDelay(fire: Fire, around: Surroundings): Reading {
  const fireMs = fire.fireTime.getTime();
  const { execution } = fire;
  return (
    clockStep(fireMs, around) ??
    toldByAlert(fire, around) ??
    (execution === null ||
    execution.revokedAt !== null ||
    execution.plannedAt.getTime() > fireMs + planSlackMs
      ? notPlanned(fire, around)
      : execution.openedAt === null
        ? notOpened(fire, around)
        : execution.openedAt.getTime() > fireMs + openSlackMs
          ? openedLate(fire, around)
          : notStarted(fire, around))
  );
}

/** A clock that jumped over the fire. Only a step forward does. */
function clockStep(fireMs: number, { clockSteps }: Surroundings): Reading | null {
  const step = clockSteps.find(
    ({ at, offsetMs }) =>
      offsetMs > 0 && fireMs <= at.getTime() && fireMs > at.getTime() - offsetMs - stepSlackMs,
  );
  if (!step) return null;
  const whose = step.part === "store" ? "the database's clock" : `the clock of ${step.node}`;
  const because = `${whose} jumped forward by ${(step.offsetMs / 1000).toFixed(1)} s over it`;
  return reading("clock-step", true, because, [{ from: "clock_sample", row: { ...step } }]);
}

/** What the watchman or the scheduler has already said about that time. */
function toldByAlert({ fireTime, jobId, version }: Fire, { alerts }: Surroundings): Reading | null {
  const told = (kind: string, slackMs = 0): AlertSpan | undefined =>
    alerts.find(
      (alert) =>
        alert.kind === kind &&
        alert.firstAt.getTime() - slackMs <= fireTime.getTime() &&
        alert.lastAt.getTime() >= fireTime.getTime(),
    );
  // Of this version: what goes wrong after a repair goes wrong for another reason.
  const unplannable = alerts.find(({ key }) => key === `job-unplannable:${jobId}:${version}`);
  if (unplannable) return reading("bad-definition", true, unplannable.message, [alertEvidence(unplannable)]);
  const unopenable = alerts.find(
    ({ kind, jobId: of, lastAt }) => kind === "job-unopenable" && of === jobId && lastAt >= fireTime,
  );
  if (unopenable) {
    const locked = /lock|deadlock/i.test(unopenable.message);
    return reading(locked ? "lock-wait" : "bad-definition", true, unopenable.message, [
      alertEvidence(unopenable),
    ]);
  }
  const outage = told("store-unreachable", 90_000);
  if (outage)
    return reading("store-outage", true, "the watchman could not reach the record store then", [
      alertEvidence(outage),
    ]);
  return null;
}

function alertEvidence({ kind, message, firstAt, lastAt }: AlertSpan): Evidence {
  return { from: "alert_outbox", row: { kind, message, firstAt, lastAt } };
}

function leaderEvidence({ leader }: Surroundings): Evidence {
  const { node, epoch, acquiredAt, expiresAt } = leader;
  return { from: "leader", row: { node, epoch, acquiredAt, expiresAt } };
}

function alive(lives: readonly ProcessLife[], atMs: number): ProcessLife[] {
  return lives.filter(({ startedAt, until }) => startedAt.getTime() <= atMs && until.getTime() > atMs);
}

/** The present term reaches over the instant. */
function ledAt({ leader }: Surroundings, atMs: number): boolean {
  return (
    leader.acquiredAt !== null && leader.acquiredAt.getTime() <= atMs && leader.expiresAt.getTime() > atMs
  );
}

function notPlanned({ fireTime, execution }: Fire, around: Surroundings): Reading {
  const { leader, now } = around;
  const evidence = [leaderEvidence(around)];
  const fireMs = fireTime.getTime();
  if (execution === null && leader.expiresAt <= now)
    return reading("no-leader", true, "no scheduler leads, and so nobody has planned it", evidence);
  const tookOver = leader.acquiredAt !== null && leader.acquiredAt.getTime() > fireMs;
  const sameTerm = execution === null || execution.epoch === leader.epoch;
  const when = leader.acquiredAt?.toISOString();
  if (tookOver && leader.holderStartedAt !== null && leader.holderStartedAt.getTime() < fireMs)
    return reading(
      "store-outage",
      false,
      `scheduler ${leader.node} was running but could not lead before ${when}: it did not reach the record store`,
      evidence,
    );
  if (tookOver)
    return reading(
      "no-leader",
      sameTerm,
      `no scheduler led at its time; ${leader.node} took the leadership at ${when}`,
      evidence,
    );
  if (ledAt(around, fireMs))
    return reading(
      isLocked(around) ? "lock-wait" : "store-outage",
      false,
      `${leader.node} led then, and could not write the plan in time`,
      [...evidence, ...lockEvidence(around)],
    );
  return reading(
    "no-leader",
    false,
    "it was planned only after its time, as after a time without a leader",
    evidence,
  );
}

function notOpened(fire: Fire, around: Surroundings): Reading {
  const { inTheWay, execution, fireTime } = fire;
  if (execution?.live === "held" && inTheWay) return behind(fire);
  const fireMs = fireTime.getTime();
  const executors = alive(around.executors, fireMs);
  const evidence = [leaderEvidence(around)];
  const ended = execution?.status === "missed";
  if (!ledAt(around, fireMs) && executors.length === 0)
    return reading("no-leader", false, "neither a leader nor an executor was there to open it", evidence);
  if (executors.length === 0)
    return reading("no-executor", ended, "no executor was there to start it", evidence);
  if (!ended && isLocked(around)) return reading("lock-wait", false, lockedBy(around), lockEvidence(around));
  if (ended)
    return reading(
      "executors-busy",
      false,
      `of ${executors.length} executor(s) none had room to start it in time`,
      executors.map(executorEvidence),
    );
  return reading("store-outage", false, "leader and executors were there and did not open it", evidence);
}

function openedLate(fire: Fire, around: Surroundings): Reading {
  const { inTheWay, fireTime } = fire;
  if (inTheWay) return behind(fire);
  const fireMs = fireTime.getTime();
  const { leader } = around;
  const evidence = [leaderEvidence(around)];
  if (alive(around.executors, fireMs).length > 0 || ledAt(around, fireMs))
    return reading("store-outage", false, "it was planned in time, and nobody could open it", evidence);
  const certain = leader.acquiredAt !== null && leader.acquiredAt.getTime() > fireMs;
  return reading("no-leader", certain, "neither a leader nor an executor was there to open it", evidence);
}

function notStarted({ fireTime, execution }: Fire, around: Surroundings): Reading {
  const untilMs = (execution?.startedAt ?? around.now).getTime();
  const early = around.executors.filter(
    ({ startedAt, until, working }) =>
      startedAt.getTime() <= fireTime.getTime() && until.getTime() > fireTime.getTime() && working,
  );
  if (early.length === 0) {
    const first = around.executors.find(({ startedAt }) => startedAt > fireTime);
    const since = first ? `; ${first.node} came at ${first.startedAt.toISOString()}` : "";
    return reading(
      "no-executor",
      true,
      `it was opened in time, and no executor was there to start it${since}`,
      first ? [executorEvidence(first)] : [],
    );
  }
  const waited = Math.round((untilMs - fireTime.getTime()) / 1000);
  return reading(
    "executors-busy",
    false,
    `it was opened in time, and waited ${waited} s for a free slot on ${early.map(({ node }) => node).join(", ")}`,
    early.map(executorEvidence),
  );
}

/** The job's own earlier execution was in the way. */
function behind({ inTheWay }: Fire): Reading {
  const since = inTheWay!.fireTime.toISOString();
  const until = inTheWay!.endedAt
    ? `, which ended at ${inTheWay!.endedAt.toISOString()}`
    : ", which has not ended";
  return reading("earlier-run", true, `it waited for the fire of ${since}${until}`, [
    executionEvidence(inTheWay!),
  ]);
}

function executorEvidence({ node, startedAt, until, slots }: ProcessLife): Evidence {
  return { from: "executor", row: { node, startedAt, until, slots } };
}

function isLocked({ lockWaits, lockHolders }: Surroundings): boolean {
  return lockWaits.length + lockHolders.length > 0;
}

function lockedBy({ lockWaits, lockHolders }: Surroundings): string {
  const [holder] = lockHolders;
  if (lockWaits.length > 0 || !holder) return "the opening waits for a lock";
  const who =
    holder.application === "" ? `session ${holder.pid}` : `session ${holder.pid} (${holder.application})`;
  return `${who} has held locks on the records since ${holder.since.toISOString()}, and nobody could open it`;
}

function lockEvidence({ lockWaits, lockHolders }: Surroundings): Evidence[] {
  return [...lockWaits, ...lockHolders].map((row) => ({ from: "pg_locks", row: { ...row } }));
}
