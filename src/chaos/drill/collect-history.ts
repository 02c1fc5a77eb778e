/** Puts together what a run has to be judged by: obligations, records, the witness, the fault. */
import type { DrillDefinition, DrillVariant } from "../../spec/drill-definition.ts";
import type { Database } from "../../store/database.ts";
import {
  type DrillRecords,
  type RecordedAttempt,
  type RecordedExecution,
  type RecordedJob,
  readDrillRecords,
  recordedJobs,
  staleWritesSince,
} from "../../store/drill/drill-records.ts";
import { probeNamespace } from "../../store/drill/drill-sample.ts";
import {
  type AttemptRecord,
  type ExecutionRecord,
  type Fault,
  type History,
  parseHistory,
} from "../history.ts";
import type { Witness } from "../witness.ts";
import { judgeable, otherObligations, probeObligations } from "./obligations.ts";
import { outlives, probeMode, probeThresholdMs } from "./probe-load.ts";

export interface HistoryQuestion {
  readonly db: Database;
  readonly definition: DrillDefinition;
  readonly variant: DrillVariant;
  readonly witness: Pick<Witness, "effects" | "refusals" | "sightings">;
  /** The probe jobs, read after they were stopped; of a run that ended early, as they were then. */
  readonly probes: readonly RecordedJob[];
  readonly records: DrillRecords;
  readonly settled: boolean;
  readonly fault: Omit<Fault, "attemptsHit"> | null;
  /** Incarnations of the target, if it is an executor. */
  readonly struck: readonly string[];
  /** Of the whole run, database time: other jobs are judged within. */
  readonly startedAt: Date;
}

export interface CollectedHistory {
  readonly history: History;
  /** Attempts of the probes that ran on the target when the fault struck. */
  readonly hit: readonly RecordedAttempt[];
  /** Other jobs that could not be judged. */
  readonly leftOut: readonly string[];
}

/** A probe that starts this late and is not marked as a misfire was forgotten, unless its drill allows more. */
const usualLateMs = probeThresholdMs + 20_000;
/** What the step itself may be off by: the clock of the store is moved by a second or two more or less. */
const earlySlackMs = 2_000;
/** Other jobs' fires of the last moments may still be on their way. */
const otherMarginMs = 5_000;

export async function collectHistory(question: HistoryQuestion): Promise<CollectedHistory> {
  const { db, definition, variant, probes, fault, struck, startedAt } = question;
  const { records, witness } = ownPart(question);
  const others = await recordedJobs(db, probeNamespace, true, startedAt);
  const span = { from: startedAt, to: new Date(records.readAt.getTime() - otherMarginMs) };
  const otherRecords = await readDrillRecords(
    db,
    others.map(({ jobId }) => jobId),
    span.from,
    span.to,
  );
  const { obligations, leftOut } = otherObligations(others, otherRecords.executions, span);
  const judged = judgeable(otherRecords.executions, leftOut);
  const fires = new Set(judged.map((one) => `${one.job} ${one.fireTime.getTime()}`));
  const hit = fault === null ? [] : attemptsHit(records.attempts, struck, Date.parse(fault.at));
  const readAt = records.readAt.toISOString();
  const history = parseHistory({
    readAt,
    settled: question.settled,
    limits: {
      settleMs: 0,
      lateMs: variant.pass.startWithinMs ?? usualLateMs,
      overlapMs: 250,
      ...earlyLimit(variant),
    },
    requirements: {
      faultKinds: [variant.fault.kind],
      obligationsInFault: definition.load.obligations,
      attemptsHit: variant.target.role === "executor" ? 1 : 0,
      refusals: variant.pass.refusedStaleWrites,
    },
    obligations: [
      ...probes.flatMap((job) => {
        const nth = probeNumber(job.job);
        return probeObligations(job, { mode: probeMode(nth), fenceOnly: outlives(variant, nth) });
      }),
      ...obligations,
    ].filter(({ allowed, fireTime }) => allowed === "none" || fireTime <= readAt),
    executions: [...records.executions, ...judged].map(executionOf),
    attempts: [
      ...records.attempts,
      ...otherRecords.attempts.filter((one) => fires.has(`${one.job} ${one.fireTime.getTime()}`)),
    ].map(attemptOf),
    effects: witness.effects,
    refusals: witness.refusals,
    storeRefusals: await staleWritesSince(
      db,
      probes.map(({ jobId }) => jobId),
      startedAt,
    ),
    sightings: witness.sightings,
    faults: fault === null ? [] : [{ ...fault, attemptsHit: hit.length }],
  });
  return { history, hit, leftOut };
}

/**
 * The plan that an earlier drill had for the same job, and that was taken back, is none of this one's; nor is
 * what an attempt of it still said to a witness at the same port. What is of no job that we know stays: it is wrong.
 */
function ownPart({
  records,
  witness,
  probes,
}: HistoryQuestion): Pick<HistoryQuestion, "records" | "witness"> {
  const knownSince = new Map(probes.map(({ job, knownSince: since }) => [job, since.getTime()]));
  const isAfter = ({ job, fireTime }: OfAFire, otherwise: number) =>
    Number(new Date(fireTime)) > (knownSince.get(job) ?? otherwise);
  const own = (one: OfAFire) => isAfter(one, Number.POSITIVE_INFINITY);
  const said = (one: OfAFire) => isAfter(one, Number.NEGATIVE_INFINITY);
  return {
    records: {
      readAt: records.readAt,
      executions: records.executions.filter(own),
      attempts: records.attempts.filter(own),
    },
    witness: {
      effects: witness.effects.filter(said),
      refusals: witness.refusals.filter(said),
      sightings: witness.sightings.filter(said),
    },
  };
}

interface OfAFire {
  readonly job: string;
  readonly fireTime: string | Date;
}

/** Attempts of these incarnations that had begun and not ended at the instant. */
export function attemptsHit(
  attempts: readonly RecordedAttempt[],
  struck: readonly string[],
  atMs: number,
): RecordedAttempt[] {
  const owners = new Set(struck);
  return attempts.filter(
    ({ owner, startedAt, endedAt }) =>
      owner !== null &&
      owners.has(owner) &&
      startedAt !== null &&
      startedAt.getTime() <= atMs &&
      (endedAt === null || endedAt.getTime() >= atMs),
  );
}

/**
 * The clock of the record store is the one that decides. Set ahead it makes work come due so much
 * early, and what of that has not begun when the clock is set back begins before its time.
 */
function earlyLimit({ fault, target }: DrillVariant): { readonly earlyMs?: number } {
  if (fault.kind !== "clock" || target.role !== "record-store" || fault.offsetSeconds <= 0) return {};
  return { earlyMs: fault.offsetSeconds * 1_000 + earlySlackMs };
}

/** `drill/probe-1` is number 0. */
function probeNumber(job: string): number {
  return Number(/-(\d+)$/.exec(job)?.[1] ?? 1) - 1;
}

function executionOf({ job, fireTime, status, trigger, reason }: RecordedExecution): ExecutionRecord {
  const row = { job, fireTime: fireTime.toISOString(), status, trigger };
  return reason === null ? row : { ...row, reason };
}

function attemptOf(row: RecordedAttempt): AttemptRecord {
  const { job, shardNo, attempt, fenceToken, status } = row;
  return {
    job,
    fireTime: row.fireTime.toISOString(),
    shardNo,
    attempt,
    fenceToken,
    owner: row.owner ?? "",
    ...(row.node === null ? {} : { node: row.node }),
    startedAt: row.startedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
    status: status === "retry" || status === "lease-expired" ? "failed" : status,
  };
}
