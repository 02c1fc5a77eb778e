/** Opens planned executions at their instant, for as long as the scheduler leads. */
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { Database } from "../store/database.ts";
import { openDue } from "../store/opening.ts";

/** A due execution that another process has locked: look again after this long. */
const retryMs = 20;

/**
 * Opens what is due, then sleeps until the next planned instant by the
 * database's clock, never longer than `maxSleepMs`. Ends with the signal.
 */
export async function openContinuously(
  db: Database,
  options: { maxSleepMs: number; signal: AbortSignal; onOpened(count: number, tookMs: number): void },
): Promise<void> {
  const { maxSleepMs, signal, onOpened } = options;
  while (!signal.aborted) {
    const started = monotonicMs();
    const { opened, nextDueInMs } = await openDue(db);
    if (opened > 0) onOpened(opened, monotonicMs() - started);
    const untilDue = nextDueInMs === null ? maxSleepMs : nextDueInMs <= 0 ? retryMs : Math.ceil(nextDueInMs);
    await sleep(Math.min(untilDue, maxSleepMs), signal);
  }
}
