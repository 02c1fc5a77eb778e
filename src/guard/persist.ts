/** Repeats a write that may have been lost on the way, until a deadline. */

import { ZodError } from "zod";
import { isEscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { sqlState } from "../store/database.ts";

/**
 * Runs `write`, which must be harmless to repeat, again while the connection is the
 * problem and `untilMs` (monotonic) has not come. What the database itself answers is final.
 */
export async function persist<T>(write: () => Promise<T>, untilMs: number): Promise<T> {
  for (let pauseMs = 50; ; pauseMs = Math.min(1_000, pauseMs * 2)) {
    try {
      return await write();
    } catch (error) {
      if (!isConnectionTrouble(error) || monotonicMs() + pauseMs >= untilMs) throw error;
      await sleep(pauseMs);
    }
  }
}

/** True when the answer is unknown: the line broke, or the server is starting or stopping. */
export function isConnectionTrouble(error: unknown): boolean {
  if (isEscapementError(error) && error.code !== "E_STORE_UNAVAILABLE") return false;
  // An answer that can not be read would be the same the next time.
  if (error instanceof ZodError) return false;
  const state = sqlState(error);
  return state === undefined || /^(08|57P|25P03|53300)/.test(state);
}
