/** From the way a process ended to what is written about its attempt. Pure. */
import { formatDuration } from "../base/duration.ts";
import type { Retry } from "../spec/job-definition.ts";
import type { AttemptEnd } from "../store/completion.ts";
import type { EndIntent } from "./attempt.ts";
import { type EndedEvent, hostFault } from "./supervisor/protocol.ts";

/** EX_TEMPFAIL of sysexits.h: "try again later", said in the error, treated as every failure. */
const temporaryFailure = 75;
const longestError = 500;
/** What this host cannot run waits a little, so that another one takes it. */
const hostFaultDelayMs = 10_000;

export interface EndQuestion {
  readonly ended: Pick<EndedEvent, "code" | "signal" | "cause" | "error">;
  readonly intent: EndIntent | undefined;
  /** Counts this attempt. */
  readonly tries: number;
  readonly maxTries: number;
  readonly retry: Retry;
  readonly timeoutMs: number;
}

export type EndAnswer = Pick<AttemptEnd, "outcome" | "delayMs" | "exitCode" | "error">;

/**
 * A process that ended with 0 before we laid hands on it has succeeded. After
 * SIGTERM of a drain a 0 is believed, too; of a cancellation or a timeout it is
 * not: the process may have ended half way, politely.
 */
export function judgeEnd(question: EndQuestion): EndAnswer {
  const { ended, intent } = question;
  const exitCode = ended.code;
  const untouched = ended.cause === null || (ended.cause === "stop" && intent === "drain");
  if (ended.code === 0 && untouched) return { outcome: "success", delayMs: 0, exitCode, error: null };
  if (intent === "cancel" && ended.error === null)
    return { outcome: "cancelled", delayMs: 0, exitCode, error: `cancelled; ${howItEnded(ended)}` };
  if (intent === "drain")
    return { outcome: "interrupted", delayMs: 0, exitCode, error: `executor stopped; ${howItEnded(ended)}` };
  if (ended.error?.startsWith(hostFault)) return { ...handBack(ended.error), delayMs: hostFaultDelayMs };
  return tryAgain(question, exitCode, whyItFailed(question));
}

/** A failed attempt: put back while tries are left, else failed for good. */
export function tryAgain(
  question: Pick<EndQuestion, "tries" | "maxTries" | "retry">,
  exitCode: number | null,
  error: string,
): EndAnswer {
  const { tries, maxTries, retry } = question;
  const text = oneLine(error);
  if (tries >= maxTries) return { outcome: "failed", delayMs: 0, exitCode, error: text };
  return { outcome: "retry", delayMs: retryDelayMs(retry, tries), exitCode, error: text };
}

/** This host cannot run it, whoever tries: back to the others, after a little while. */
export function handOn(why: string): EndAnswer {
  return { ...handBack(`${hostFault}${why}`), delayMs: hostFaultDelayMs };
}

/** Back to the others at once, without using up a try. */
export function handBack(why: string): EndAnswer {
  return { outcome: "interrupted", delayMs: 0, exitCode: null, error: oneLine(why) };
}

/** The wait after try number `tries`; the last delay repeats. */
export function retryDelayMs(retry: Retry, tries: number): number {
  return retry.delaysMs[Math.min(tries, retry.delaysMs.length) - 1] ?? 0;
}

function whyItFailed({ ended, intent, timeoutMs }: EndQuestion): string {
  if (ended.error !== null) return `cannot be started: ${ended.error}`;
  if (ended.cause === "timeout") return `timed out after ${formatDuration(timeoutMs)}; ${howItEnded(ended)}`;
  if (ended.cause === "deadline" || intent === "lease-lost")
    return "killed: the lease could not be renewed in time";
  if (intent === "supervisor-lost") return "killed: the supervisor of its executor died";
  if (ended.code === temporaryFailure) return `exit code ${temporaryFailure}: temporary failure`;
  return howItEnded(ended);
}

function howItEnded({ code, signal }: Pick<EndedEvent, "code" | "signal">): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** What the store takes: one line, no zero bytes, not endless. */
export function oneLine(text: string): string {
  return text
    .replace(/[\0\s]+/g, " ")
    .trim()
    .slice(0, longestError);
}
