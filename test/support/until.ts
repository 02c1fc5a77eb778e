/** Waiting for a condition instead of for a time. */
import { setTimeout as pause } from "node:timers/promises";

export interface UntilOptions {
  /** Gives up, with an error, after this long; default 30,000. */
  readonly deadlineMs?: number;
  /** Time between two looks; default 25. */
  readonly everyMs?: number;
  /** Completes the sentence "waited … ms for". */
  readonly what: string;
}

type Truthy<T> = Exclude<T, false | null | undefined | 0 | "">;

/**
 * Asks `condition` until it answers something truthy, and returns that.
 * An error inside counts as "not yet"; the last one is the cause of the failure.
 */
export async function until<T>(condition: () => T | Promise<T>, options: UntilOptions): Promise<Truthy<T>> {
  const { deadlineMs = 30_000, everyMs = 25, what } = options;
  const deadline = performance.now() + deadlineMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer as Truthy<T>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${deadlineMs} ms for ${what}`, { cause: lastError });
    await pause(everyMs);
  }
}
