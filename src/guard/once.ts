/** `once` inside a service: one run for one fire time or period, however many copies of the service there are. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { EscapementError, messageOf } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import {
  acquireRun,
  finishRun,
  giveBackRun,
  type OnceAnswer,
  type RunEnd,
  renewRun,
} from "../store/guard-once.ts";
import type { Fence } from "./fence.ts";
import { LeaseKeeper, trustMarginMs } from "./lease-keeper.ts";
import { checkLease, checkName } from "./once-limits.ts";
import { persist } from "./persist.ts";
import type { Queryable } from "./queryable.ts";
import { reasonOf } from "./reason.ts";

export type OnceSlot =
  /** The instant for which it runs; the same on every host. */
  | { readonly fireTime: Date; readonly period?: never }
  /** The business period for which it runs, for example "2026-07". */
  | { readonly period: string; readonly fireTime?: never };

export type OnceOptions = OnceSlot & {
  readonly job: string;
  /** The run is given up by others this long after the last sign of life; renewed while it runs. From 1,000 to a day. */
  readonly leaseMs: number;
  /**
   * When an earlier run of this job still runs: `skip` this one for good, `fail`, or `wait`.
   * With `wait`, a copy that finds this very run held by another also stays until that one has ended.
   */
  readonly blocking: "skip" | "wait" | "fail";
  /** Run again after a holder died in the middle; only where a second run does no harm. Default false. */
  readonly rerunAfterCrash?: boolean;
  /** Run again after a failed run. Default false. */
  readonly rerunAfterFailure?: boolean;
  /** Stops waiting. */
  readonly signal?: AbortSignal;
};

export interface OnceRun {
  readonly job: string;
  /** The fire time as text, or the period. */
  readonly slot: string;
  /** `job/slot`: the stem of the keys of everything this run does. */
  readonly key: string;
  readonly attempt: number;
  /** For `withFence`. */
  readonly fence: Fence;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  /** Reads the clock; false from the moment the lease can no longer be trusted. */
  isHeld(): boolean;
}

export type OnceOutcome<T> =
  | { readonly status: "ran"; readonly value: T; readonly attempt: number }
  /** Another process holds this run. */
  | { readonly status: "running"; readonly holder: string }
  | { readonly status: "already-done" }
  /** An earlier run failed and `rerunAfterFailure` is not set. */
  | { readonly status: "failed-before"; readonly reason: string }
  /** Its holder died in the middle and `rerunAfterCrash` is not set: a person must look. */
  | { readonly status: "holder-died"; readonly holder: string }
  /** An earlier run of the job was still running. */
  | { readonly status: "blocked"; readonly reason: string }
  /** The fire time lies more than a minute ahead of the database clock. */
  | { readonly status: "early"; readonly databaseTime: Date }
  /** The lease was lost in the middle: the work may be half done, and others may run it, too. */
  | { readonly status: "lost"; readonly reason: string };

/** A granted run and how it was asked for. */
export interface GrantedRun {
  readonly answer: OnceAnswer;
  readonly slot: string;
  readonly token: string;
  readonly attempt: number;
  /** When (monotonic) the granting request was sent. */
  readonly sentAtMs: number;
}

/** Name of the run's slot, the same on every host. */
export function slotOf(options: OnceSlot): { slot: string; kind: "fire-time" | "period" } {
  return options.fireTime === undefined
    ? { slot: options.period, kind: "period" }
    : { slot: formatInstant(options.fireTime), kind: "fire-time" };
}

/**
 * Asks for the run; with `blocking: "wait"`, until there is something to say.
 * @throws E_BAD_DATA lease or name will not do, E_REFUSED the database is too slow for the lease
 */
export async function askForRun(
  db: Queryable,
  options: OnceOptions,
): Promise<{ answer: OnceAnswer; granted?: GrantedRun }> {
  const { slot, kind } = slotOf(options);
  checkLease(options.leaseMs);
  checkName("job", options.job);
  checkName(kind, slot);
  const holder = randomUUID();
  for (let round = 1; ; round++) {
    // An answer that was lost on the way is asked for again: the same holder gets the same lease, so
    // its age counts from the first question.
    const sentAtMs = monotonicMs();
    const claim = {
      job: options.job,
      slot,
      kind,
      holder,
      host: hostname(),
      pid: process.pid,
      leaseMs: options.leaseMs,
      blocking: options.blocking,
      rerunAfterCrash: options.rerunAfterCrash ?? false,
      rerunAfterFailure: options.rerunAfterFailure ?? false,
    };
    const answer = await persist(
      () => acquireRun(db, claim),
      sentAtMs + Math.min(3_000, options.leaseMs / 4),
    );
    if (answer.decision === "run") {
      const granted = { answer, slot, token: answer.token ?? "", attempt: answer.attempt ?? 1, sentAtMs };
      await refuseIfTooSlow(db, options, granted);
      return { answer, granted };
    }
    const isWaiting =
      answer.decision === "wait" || (answer.decision === "running" && options.blocking === "wait");
    if (!isWaiting || options.signal?.aborted) return { answer };
    await sleep(Math.min(1_000, 50 * round, options.leaseMs / 4), options.signal);
  }
}

/** A lease that is nearly over when its grant arrives can not be kept alive. Nothing has run, so it is given back. */
async function refuseIfTooSlow(db: Queryable, options: OnceOptions, granted: GrantedRun): Promise<void> {
  const tripMs = monotonicMs() - granted.sentAtMs;
  if (tripMs < options.leaseMs / 3) return;
  await giveBackRun(
    db,
    options.job,
    granted.slot,
    granted.token,
    "the database was too slow for the lease",
  ).catch(() => {});
  throw new EscapementError("E_REFUSED", {
    what: `the lease of ${options.leaseMs} ms can not be renewed in time: one question to the database took ${Math.round(tripMs)} ms`,
    hint: "nothing was run; use a longer lease",
  });
}

/**
 * Runs `work` if nobody else has run, or runs, this slot.
 * @throws what `work` throws, after the run was written down as failed; E_STORE_UNAVAILABLE when its
 *   success could not be written down: the run then shows as one whose holder died
 */
export async function once<T>(
  db: Queryable,
  options: OnceOptions,
  work: (run: OnceRun) => Promise<T>,
): Promise<OnceOutcome<T>> {
  const { answer, granted } = await askForRun(db, options);
  if (granted === undefined) return notRun(answer);
  const { job, leaseMs } = options;
  const { slot, token } = granted;
  const lost = new AbortController();
  let lostReason: string | undefined;
  const keeper = new LeaseKeeper({
    leaseMs,
    renew: () => renewRun(db, job, slot, token, leaseMs),
    onLost: (reason) => {
      lostReason = reason;
      lost.abort(new EscapementError("E_LEASE_LOST", { what: `${job}/${slot}: ${reason}` }));
    },
  });
  keeper.start(granted.sentAtMs);
  const finish = (end: RunEnd) =>
    persist(
      () => finishRun(db, job, slot, token, end),
      Math.max(keeper.trustUntilMs, monotonicMs()) + trustMarginMs(leaseMs),
    );
  try {
    const run = {
      job,
      slot,
      key: `${job}/${slot}`,
      attempt: granted.attempt,
      fence: { resource: `${job}/${slot}/0`, token },
    };
    const ended = await settled(() =>
      work({ ...run, signal: lost.signal, isHeld: () => keeper.isTrusted() }),
    );
    if (!keeper.isTrusted()) {
      // It was told to stop: its error says nothing about the job, and its return may have been an early one.
      await finish({ state: "interrupted", exitCode: null, reason: lostReason ?? null }).catch(() => {});
      return {
        status: "lost",
        reason: ended.ok ? `${lostReason}` : `${lostReason}; ${messageOf(ended.error)}`,
      };
    }
    if (!ended.ok) {
      await finish({ state: "failed", exitCode: null, reason: reasonOf(ended.error) }).catch(() => {});
      throw ended.error;
    }
    const isOurs = await finish({ state: "done", exitCode: null, reason: null });
    return isOurs
      ? { status: "ran", value: ended.value, attempt: granted.attempt }
      : { status: "lost", reason: lostReason ?? "someone took over" };
  } finally {
    keeper.stop();
  }
}

async function settled<T>(
  work: () => Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; error: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error };
  }
}

function notRun<T>(answer: OnceAnswer): OnceOutcome<T> {
  const holder = `${answer.holder_host ?? "?"} pid ${answer.holder_pid ?? "?"}`;
  switch (answer.decision) {
    case "done":
      return { status: "already-done" };
    case "failed":
      return { status: "failed-before", reason: answer.reason ?? "it failed" };
    case "died":
      return { status: "holder-died", holder };
    case "early":
      return { status: "early", databaseTime: answer.database_time };
    case "blocked":
    case "wait":
      return {
        status: "blocked",
        reason: answer.reason ?? `the run of ${answer.other_slot ?? "?"} is still running`,
      };
    default:
      return { status: "running", holder };
  }
}
