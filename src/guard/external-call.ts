/**
 * `externalCall`: the ledger of acts outside the database. The state machine is
 * drawn in src/store/guard/call.sql.
 */
import { EscapementError, messageOf } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import {
  beginCall,
  type CallBegin,
  callDone,
  callDoubt,
  callRefused,
  callUnsent,
  confirmCall,
} from "../store/guard-call.ts";
import { persist } from "./persist.ts";
import type { Queryable } from "./queryable.ts";
import { reasonOf } from "./reason.ts";
import { redactJson } from "./redact-json.ts";
import { timer } from "./timer.ts";

export interface CallOptions {
  readonly receiver: {
    /** Part of the request: the same key to another receiver is an error. */
    readonly name: string;
    /** True only if the receiver accepts one key once, however often it is sent. No default. */
    readonly deduplicating: boolean;
  };
  /** What is asked, as JSON; compared at a repeat, stored without secrets. */
  readonly request: unknown;
  /** How long one attempt may take, the writing down of the answer included. */
  readonly leaseMs: number;
  /** Names of further fields that hold secrets, in request and response. */
  readonly secretFields?: readonly string[];
  /** How long to wait for another process that is calling right now; default 0. */
  readonly busyWaitMs?: number;
  /** Told about every call found or left in doubt, before the outcome is returned. */
  readonly onInDoubt?: (call: { key: string; reason: string }) => Promise<void> | void;
}

export interface CallAttempt {
  /** To be sent along, for example as `Idempotency-Key`. */
  readonly key: string;
  /** 1 at the first attempt. */
  readonly attempt: number;
  /** Aborts a little before the lease ends. */
  readonly signal: AbortSignal;
}

export type CallOutcome<T> =
  /** Accepted; `response` is what was kept. `first`: by this call of ours, not an earlier one. */
  | { readonly status: "done"; readonly response: T; readonly first: boolean }
  /** The receiver said no, for certain. */
  | { readonly status: "refused"; readonly response: unknown; readonly first: boolean }
  /** It may or may not have been accepted. */
  | { readonly status: "in-doubt"; readonly reason: string; readonly cause?: unknown }
  /** Nothing left the machine; the next run calls again. */
  | { readonly status: "not-sent"; readonly reason: string; readonly cause?: unknown }
  /** Another process is calling right now. */
  | { readonly status: "busy" };

/** Throw it from the call when the receiver said no, for certain. */
export class CallRefused extends Error {
  readonly response: unknown;
  constructor(response: unknown) {
    super("refused by the receiver");
    this.response = response;
  }
}

/** Throw it from the call only when you know that nothing left the machine. */
export class CallNotSent extends Error {}

/** Part of the lease kept for writing down the answer. */
const marginMs = (leaseMs: number) => Math.min(1_000, leaseMs * 0.2);

/**
 * Makes a call that is written down before and after.
 * @param db a pool, or a connection without an open transaction.
 * @param call returns the answer when it was accepted.
 * @throws E_GUARD_KEY_REUSED, E_GUARD_IN_TRANSACTION, E_GUARD_STALE, E_GUARD_KEY_DATE, E_GUARD_TOO_OLD;
 *   TypeError, after the answer was written down, when it is no JSON
 */
export async function externalCall<T>(
  db: Queryable,
  key: string,
  options: CallOptions,
  call: (attempt: CallAttempt) => Promise<T>,
): Promise<CallOutcome<T>> {
  const secretFields = options.secretFields ?? [];
  const intention = {
    key,
    receiver: options.receiver.name,
    deduplicating: options.receiver.deduplicating,
    request: redactJson(options.request, secretFields),
    leaseMs: options.leaseMs,
    secretFields,
  };
  const waitUntil = monotonicMs() + (options.busyWaitMs ?? 0);
  let askedAt = monotonicMs();
  let begin = await beginCall(db, intention);
  while (begin.decision === "busy" && monotonicMs() < waitUntil) {
    await sleep(Math.min(100, waitUntil - monotonicMs()));
    askedAt = monotonicMs();
    begin = await beginCall(db, intention);
  }
  if (begin.decision !== "call") return await answered(begin, key, options);
  return await attemptCall(
    db,
    begin,
    askedAt + options.leaseMs - marginMs(options.leaseMs),
    key,
    options,
    call,
  );
}

async function answered<T>(begin: CallBegin, key: string, options: CallOptions): Promise<CallOutcome<T>> {
  if (begin.decision === "done") return { status: "done", response: begin.response as T, first: false };
  if (begin.decision === "refused") return { status: "refused", response: begin.response, first: false };
  if (begin.decision === "busy") return { status: "busy" };
  return await inDoubt(key, begin.reason ?? "an earlier attempt ended without an answer", options);
}

async function inDoubt<T>(
  key: string,
  reason: string,
  options: CallOptions,
  cause?: unknown,
): Promise<CallOutcome<T>> {
  await options.onInDoubt?.({ key, reason });
  return { status: "in-doubt", reason, ...(cause === undefined ? {} : { cause }) };
}

async function attemptCall<T>(
  db: Queryable,
  begin: CallBegin,
  stopAtMs: number,
  key: string,
  options: CallOptions,
  call: (attempt: CallAttempt) => Promise<T>,
): Promise<CallOutcome<T>> {
  const token = begin.token ?? "";
  const secretFields = options.secretFields ?? [];
  try {
    await confirmCall(db, key, token);
    // Frozen since the question was asked: somebody may have taken over already.
    if (monotonicMs() >= stopAtMs) throw new EscapementError("E_LEASE_LOST", { what: `call ${key}` });
  } catch (error) {
    // Nothing was sent. Say so if the database can be reached; otherwise the call is in doubt without need.
    await callUnsent(db, key, token, `not sent: ${reasonOf(error)}`).catch(() => {});
    throw error;
  }
  const ended = await runCall(call, { key, attempt: begin.attempt ?? 1 }, stopAtMs, secretFields);
  // The margin of the lease is for this. Later the answer is still welcome, as long as nobody took over.
  const state = await persist(
    () => writeDown(db, key, token, ended, secretFields),
    stopAtMs + marginMs(options.leaseMs),
  );
  if ("complaint" in ended) throw ended.complaint;
  if (state === "done") return { status: "done", response: responseOf(ended) as T, first: true };
  if (state === "refused") return { status: "refused", response: responseOf(ended), first: true };
  const cause = "error" in ended ? ended.error : undefined;
  if (state === "ready") return { status: "not-sent", reason: messageOf(cause), cause };
  return await inDoubt(
    key,
    cause === undefined ? `${ended.kind}, but an earlier attempt may have been accepted` : messageOf(cause),
    options,
    cause,
  );
}

type Ended =
  /** `complaint`: why the answer can not be kept. That it was given is certain all the same. */
  | { readonly kind: "done" | "refused"; readonly response: unknown; readonly complaint?: unknown }
  | { readonly kind: "not-sent" | "unknown"; readonly error: unknown };

async function runCall<T>(
  call: (attempt: CallAttempt) => Promise<T>,
  attempt: Omit<CallAttempt, "signal">,
  stopAtMs: number,
  secretFields: readonly string[],
): Promise<Ended> {
  const limit = new AbortController();
  const limitTimer = timer(
    () => limit.abort(new EscapementError("E_LEASE_LOST", { what: `call ${attempt.key}` })),
    stopAtMs - monotonicMs(),
  );
  try {
    const response = await call({ ...attempt, signal: limit.signal });
    return { kind: "done", ...kept(response, secretFields) };
  } catch (error) {
    if (error instanceof CallRefused) return { kind: "refused", ...kept(error.response, secretFields) };
    return { kind: error instanceof CallNotSent ? "not-sent" : "unknown", error };
  } finally {
    clearTimeout(limitTimer);
  }
}

/** The answer as it is stored; a null, with the reason, when it is no JSON. */
function kept(response: unknown, secretFields: readonly string[]) {
  try {
    return { response: redactJson(response, secretFields) };
  } catch (complaint) {
    return { response: null, complaint };
  }
}

async function writeDown(
  db: Queryable,
  key: string,
  token: string,
  ended: Ended,
  secretFields: readonly string[],
) {
  switch (ended.kind) {
    case "done":
      return await callDone(db, key, token, ended.response, secretFields);
    case "refused":
      return await callRefused(db, key, token, ended.response, secretFields);
    case "not-sent":
      return await callUnsent(db, key, token, reasonOf(ended.error));
    case "unknown":
      return await callDoubt(db, key, token, reasonOf(ended.error));
  }
}

function responseOf(ended: Ended): unknown {
  return "response" in ended ? ended.response : null;
}
