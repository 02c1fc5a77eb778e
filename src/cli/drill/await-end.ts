/** Waits until a run has ended: by its controller, or by us when that one is silent for longer than its lease. */
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { CleanUpOptions } from "../../chaos/drill/abandoned-run.ts";
import type { DrillOutcome } from "../../store/drill/drill-run.ts";

export interface EndedRun {
  readonly verdict: DrillOutcome;
  readonly reason: string;
}

const lookEveryMs = 500;

/** @returns null when the run had not ended by the deadline */
export async function awaitEnd(
  options: CleanUpOptions,
  runId: string,
  deadlineMs: number,
): Promise<EndedRun | null> {
  const { endAbandonedRun } = await import("../../chaos/drill/abandoned-run.ts");
  const { findDrillRun } = await import("../../store/drill/drill-run.ts");
  const until = monotonicMs() + deadlineMs;
  for (;;) {
    const run = await findDrillRun(options.db, runId);
    if (run?.verdict) return { verdict: run.verdict, reason: run.reason ?? "" };
    if (run?.abandoned) {
      const cleaned = await endAbandonedRun(options);
      if (cleaned?.runId === runId) return cleaned;
    }
    if (monotonicMs() >= until) return null;
    await sleep(lookEveryMs);
  }
}
