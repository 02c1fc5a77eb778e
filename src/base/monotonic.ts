/**
 * The clock for durations and for local waiting. It never steps, whatever
 * happens to the wall clock, and must never be compared between processes.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A timer holds no more milliseconds; asked for more, it would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Waits `ms` of monotonic time, 24.8 days at most; returns early, without an error, when `signal` fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(longestTimerMs, Math.max(0, ms)));
    signal?.addEventListener("abort", done, { once: true });
  });
}
