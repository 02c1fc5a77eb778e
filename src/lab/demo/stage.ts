/** What every step of the demo works with: the cluster, a stopwatch, and a way to be interrupted. */
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { ProcessCluster } from "../process-cluster.ts";

export interface Stage {
  readonly cluster: ProcessCluster;
  /** Milliseconds since the demo began. */
  elapsedMs(): number;
  /** Says what happens, for people who wait. */
  progress(line: string): void;
  /** Fires when the user wants to stop; its reason is the error to throw. */
  readonly signal: AbortSignal;
}

const lookEveryMs = 40;

/**
 * Asks until the answer is neither null nor false, or the time is over.
 * @returns the answer, or null when the time is over. @throws the signal's reason, and what `ask` throws
 */
export async function waitFor<T>(
  stage: Pick<Stage, "signal">,
  deadlineMs: number,
  ask: () => Promise<T | null | false>,
  everyMs = lookEveryMs,
): Promise<T | null> {
  const deadline = monotonicMs() + deadlineMs;
  for (;;) {
    stage.signal.throwIfAborted();
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (monotonicMs() >= deadline) return null;
    await sleep(everyMs, stage.signal);
  }
}
