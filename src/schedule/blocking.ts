/** What becomes of a fire that comes due while earlier executions of its job have not finished. */
import { EscapementError } from "../base/errors.ts";
import { formatInstant } from "../base/instant.ts";

/** `queue` waits, `forbid` records and drops the new one, `replace` cancels the old ones, `allow` runs both. */
export type BlockingPolicy = "queue" | "forbid" | "replace" | "allow";

/** An execution of the same job that has not finished: running or claimable (`open`), or waiting (`held`). */
export interface UnfinishedExecution {
  readonly fireMs: number;
  readonly state: "held" | "open";
}

export interface BlockingQuestion {
  readonly policy: BlockingPolicy;
  /** Only for `queue`: how many executions may wait. Without it there is no limit. */
  readonly maxQueued?: number;
  /** The job's other unfinished executions, in any order. */
  readonly open: readonly UnfinishedExecution[];
  /** The fire that has come due. */
  readonly fireMs: number;
}

export type BlockingDecision =
  | { readonly action: "open" }
  /** Wait until the execution of that fire has ended, then ask again. */
  | { readonly action: "hold"; readonly behindMs: number }
  | { readonly action: "blocked"; readonly reason: string }
  /** Cancel the executions of these fires (ascending), then open this one. */
  | { readonly action: "replace"; readonly cancel: number[] };

/**
 * Decides for one due fire. An execution that is itself held asks again, with itself left out of `open`,
 * when the one before it has ended; waiting ones are let go oldest first.
 */
export function decideBlocking(question: BlockingQuestion): BlockingDecision {
  const { policy, open, fireMs } = question;
  if (open.length === 0 || policy === "allow") return { action: "open" };
  switch (policy) {
    case "queue":
      return queue(question);
    case "forbid":
      return { action: "blocked", reason: `${unfinished(open)}; the blocking policy is forbid` };
    case "replace": {
      const newer = open.filter((other) => other.fireMs > fireMs);
      // A late fire must not cancel work that is more recent than itself.
      if (newer.length > 0) {
        return {
          action: "blocked",
          reason: `${unfinished(newer)}, newer than this one; replace cancels only older ones`,
        };
      }
      return { action: "replace", cancel: open.map((other) => other.fireMs).sort((a, b) => a - b) };
    }
    default:
      throw new EscapementError("E_BUG", { what: `blocking policy ${String(policy)}` });
  }
}

function queue({ maxQueued, open, fireMs }: BlockingQuestion): BlockingDecision {
  // Waits for whatever is older, and for whatever runs; a newer one that only waits lets this one pass.
  const ahead = open.filter((other) => other.state === "open" || other.fireMs < fireMs);
  if (ahead.length === 0) return { action: "open" };
  const held = open.filter((other) => other.state === "held").length;
  if (maxQueued !== undefined && held >= maxQueued) {
    return {
      action: "blocked",
      reason: `${unfinished(open)}; the queue holds ${held} of at most ${maxQueued}`,
    };
  }
  return { action: "hold", behindMs: Math.max(...ahead.map((other) => other.fireMs)) };
}

function unfinished(open: readonly UnfinishedExecution[]): string {
  const oldest = formatInstant(new Date(Math.min(...open.map((other) => other.fireMs))));
  return open.length === 1
    ? `the execution of ${oldest} has not finished`
    : `${open.length} executions have not finished, the oldest of ${oldest}`;
}
