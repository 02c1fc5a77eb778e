/** Timers that may be asked for any length of time. */

/** Node fires a longer timer at once. About 24.8 days. */
const longestTimerMs = 2 ** 31 - 1;

/** `setTimeout`, at the latest after the longest time a timer can count. */
export function timer(work: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(work, Math.min(Math.max(0, ms), longestTimerMs));
}
