/** Fixed intervals, counted from the Unix epoch: `every 15m` fires at :00, :15, :30 and :45, whoever asks, whenever. */
import { formatDuration, parseDuration } from "../base/duration.ts";
import { EscapementError, isEscapementError } from "../base/errors.ts";
import type { Schedule } from "./schedule.ts";
import { horizonEndSec, horizonStartSec } from "./zone.ts";

const shortestMs = 1_000;
const longestMs = 366 * 86_400_000;

/**
 * Reads `5m`, `every 5m` or milliseconds.
 * @returns milliseconds, a whole number of at least one second
 * @throws E_CRON_SYNTAX
 */
export function parseEvery(every: string | number): number {
  const intervalMs = typeof every === "number" ? every : readText(every);
  if (!Number.isSafeInteger(intervalMs) || intervalMs < shortestMs || intervalMs > longestMs) {
    const expression = typeof every === "number" ? `every ${every} ms` : JSON.stringify(every);
    throw new EscapementError("E_CRON_SYNTAX", {
      expression,
      reason: `an interval is at least ${formatDuration(shortestMs)} and at most ${formatDuration(longestMs)}`,
    });
  }
  return intervalMs;
}

function readText(every: string): number {
  try {
    return parseDuration(every.trim().replace(/^every\s+/i, ""));
  } catch (error) {
    if (!isEscapementError(error)) throw error;
    const reason = `${error.message}; ${error.hint}`;
    throw new EscapementError(
      "E_CRON_SYNTAX",
      { expression: JSON.stringify(every), reason },
      { cause: error },
    );
  }
}

export class EverySchedule implements Schedule {
  readonly #intervalMs: number;

  /** @param intervalMs as {@link parseEvery} returns it */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  next(afterMs: number): number | null {
    const interval = this.#intervalMs;
    const fire = (Math.floor(Math.max(afterMs, horizonStartSec * 1000 - 1) / interval) + 1) * interval;
    return fire < horizonEndSec * 1000 ? fire : null;
  }

  previous(beforeMs: number): number | null {
    const interval = this.#intervalMs;
    const fire = (Math.ceil(Math.min(beforeMs, horizonEndSec * 1000) / interval) - 1) * interval;
    return fire >= horizonStartSec * 1000 ? fire : null;
  }

  matches(ms: number): boolean {
    return this.next(ms - 1) === ms;
  }

  between(fromMsExclusive: number, toMsInclusive: number, limit = Number.POSITIVE_INFINITY): number[] {
    const fires: number[] = [];
    let fire = this.next(fromMsExclusive);
    while (fire !== null && fire <= toMsInclusive && fires.length < limit) {
      fires.push(fire);
      fire += this.#intervalMs;
      if (fire >= horizonEndSec * 1000) break;
    }
    return fires;
  }
}
