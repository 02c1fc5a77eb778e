/**
 * Tells which clock has stepped between two samplings. Both are held against the
 * monotonic clock, which never steps. When both moved by the same it was the
 * monotonic one that stood still: the host slept, or was frozen and moved.
 */
import type { ClockSampling } from "./sampler.ts";

export interface Step {
  readonly part: "store" | "watchman";
  /** Positive: forward. */
  readonly offsetMs: number;
}

/** Less than this is slewing and drift. chrony slews 0.3 s of an offset in half a minute at its usual limit. */
export const leastStepMs = 500;

export function detectSteps(before: ClockSampling, after: ClockSampling): Step[] {
  const slackMs = leastStepMs + before.errorMs + after.errorMs;
  const storeMs = after.storeMinusMonotonicMs - before.storeMinusMonotonicMs;
  const wallMs = after.wallMinusMonotonicMs - before.wallMinusMonotonicMs;
  if (Math.abs(storeMs - wallMs) <= slackMs) return [];
  const steps: Step[] = [];
  if (Math.abs(storeMs) > slackMs) steps.push({ part: "store", offsetMs: storeMs });
  if (Math.abs(wallMs) > slackMs) steps.push({ part: "watchman", offsetMs: wallMs });
  return steps;
}
