/**
 * Does a history of a drill contradict itself, or lack what the record store and the witness always
 * write together? Then something was taken out of it or written by hand, and a clean result means nothing.
 *
 * Records carry the database's time and the witness's lists the controller's, so the two are not compared
 * with each other, and nothing is called wrong that clocks alone can do.
 */
import { buildLedger, type FireEntry, type Ledger, type ShardEntry, successOf } from "./checkers/ledger.ts";
import type { Effect, Fault, History, Refusal } from "./history.ts";

/** Clocks of a cluster differ by less, and a store that moves to another host takes over that one's clock. */
const clockSlackMs = 60_000;
/** A drill may set the clock of the store by up to 12 h while attempts run, and sets it back. */
const movedClockSlackMs = 13 * 3_600_000;
/** Both ends of a fault come from one host, reckoned from its boot. */
const faultSlackMs = 10_000;

/** @returns one sentence a contradiction; where there are several of a kind, the first and how many more */
export function contradictions(history: History): string[] {
  const ledger = buildLedger(history);
  const slackMs = history.faults.some(({ kind }) => kind === "clock") ? movedClockSlackMs : clockSlackMs;
  return [
    ...summed(history.faults.flatMap((fault) => faultProblem(fault, history.readAt, slackMs))),
    ...summed(history.faults.flatMap((fault) => hitProblem(fault, history.attempts.length))),
    ...summed(attemptTimes(history, slackMs)),
    ...summed(lives(history)),
    ...summed(fires(ledger).flatMap(executionProblem)),
    ...summed(fires(ledger).flatMap(successProblem)),
    ...summed(unseen(ledger, history.effects, "an effect")),
    ...summed(unseen(ledger, history.refusals, "a refusal")),
  ];
}

function summed(problems: readonly string[]): string[] {
  const [first, ...more] = problems;
  if (first === undefined) return [];
  return [more.length === 0 ? first : `${first} (and ${more.length} more like it)`];
}

function isBefore(earlier: string | null, later: string | null, slackMs: number): boolean {
  return earlier !== null && later !== null && Date.parse(earlier) + slackMs < Date.parse(later);
}

function faultProblem({ kind, target, at, until }: Fault, readAt: string, slackMs: number): string[] {
  const end = until ?? at;
  if (isBefore(readAt, end, slackMs) || isBefore(readAt, at, slackMs))
    return [`${kind} of ${target} is dated after the final read`];
  if (isBefore(end, at, slackMs === clockSlackMs ? faultSlackMs : slackMs))
    return [`${kind} of ${target} was taken back before it began`];
  return [];
}

function hitProblem({ kind, target, attemptsHit }: Fault, attempts: number): string[] {
  if (attemptsHit <= attempts) return [];
  return [`${kind} of ${target} hit ${attemptsHit} attempts, and there are ${attempts}`];
}

function attemptTimes({ attempts, readAt }: History, slackMs: number): string[] {
  return attempts.flatMap((one) => {
    const { startedAt, endedAt } = one;
    if (isBefore(endedAt, startedAt, slackMs)) return [`${named(one)} ended before it started`];
    if (isBefore(readAt, endedAt, slackMs) || isBefore(readAt, startedAt, slackMs))
      return [`${named(one)} is dated after the final read`];
    return [];
  });
}

/** The witness's clock never steps back, and records are at rest only when no process is connected any more. */
function lives({ sightings, settled }: History): string[] {
  return sightings.flatMap((one) => {
    if (one.until === null) return settled ? [`the process of ${named(one)} is still alive, at rest`] : [];
    return isBefore(one.until, one.from, 0) ? [`the process of ${named(one)} ended before it began`] : [];
  });
}

function fires(ledger: Ledger): FireEntry[] {
  return [...ledger.fires.values()].filter(({ obligation }) => obligation && !obligation.recordsOnly);
}

/** An execution is there before its attempts, and ends as its shards do. */
function executionProblem({ job, fireTime, executions, shards, obligation }: FireEntry): string[] {
  const entries = [...shards.values()];
  const execution = executions[0];
  const attempts = entries.reduce((sum, entry) => sum + entry.attempts.length, 0);
  if (attempts === 0) return [];
  if (!execution) return [`the fire ${job} ${fireTime} has attempts, and no execution`];
  const { status } = execution;
  const done = entries.filter(successOf).length >= obligation!.shardCount;
  if (status === "success" && !done)
    return [`the execution ${job} ${fireTime} is a success, and not all of its shards are`];
  if (status === "missed" || status === "blocked" || (status === "failed" && done))
    return [`the execution ${job} ${fireTime} is recorded as ${status}, and its attempts tell otherwise`];
  const cancelled = status === "cancelled" && done && obligation!.allowed === "exactly-one";
  return cancelled
    ? [`the execution ${job} ${fireTime} is recorded as cancelled, and all of it was done`]
    : [];
}

/** A claim is dated as it is made. */
function successProblem({ shards }: FireEntry): string[] {
  return [...shards.values()].flatMap((entry) => {
    const success = successOf(entry);
    return success?.startedAt === null ? [`${named(success)} succeeded and never started`] : [];
  });
}

/** The witness hears who speaks before it hears what: no effect and no refusal is without its process. */
function unseen(ledger: Ledger, list: readonly (Effect | Refusal)[], what: string): string[] {
  const entries = new Map<string, ShardEntry>();
  for (const { job, fireTime, shards } of ledger.fires.values())
    for (const entry of shards.values()) entries.set(shardKey({ job, fireTime, ...entry }), entry);
  return list.flatMap((one) => {
    const seen = entries
      .get(shardKey(one))
      ?.sightings.some(({ fenceToken, seq }) => fenceToken === one.fenceToken && seq < one.seq);
    return seen ? [] : [`${what} of ${named(one)}, whose process nobody saw`];
  });
}

function shardKey({ job, fireTime, shardNo }: { job: string; fireTime: string; shardNo: number }): string {
  return `${fireTime} ${shardNo} ${job}`;
}

function named(of: { job: string; fireTime: string; shardNo: number; attempt: number }): string {
  return `attempt ${of.attempt} of ${of.job} ${of.fireTime}, shard ${of.shardNo}`;
}
