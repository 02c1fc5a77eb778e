/**
 * One run of one variant of a drill, from the lock to the verdict.
 *
 *   clean up after others ──▶ lock ──▶ preflight ──▶ armed (load) ──▶ fault ──▶ restoring
 *                                         │                                        │
 *                                      refused                                     ▼
 *                                    ended ◀── judging ◀── settling ◀── audit of the host
 *
 * Whatever happens on the way, the host is put right first, the load is removed
 * and the run is ended with a verdict. The host restores itself even if nothing
 * of this is left alive.
 */
import { randomUUID } from "node:crypto";
import { EscapementError, isEscapementError, messageOf } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { activeDrillHalt } from "../../store/drill/drill-halt.ts";
import { beginDrillRun, endDrillRun } from "../../store/drill/drill-run.ts";
import { endAbandonedRun } from "./abandoned-run.ts";
import { DrillCourse } from "./drill-course.ts";
import type { DrillResult } from "./drill-report.ts";
import { removeProbes } from "./probe-load.ts";
import { RunLease, runLeaseMs } from "./run-lease.ts";
import type { RunDrillOptions } from "./run-options.ts";
import { whileAway } from "./settle-records.ts";

/** How long the store may be away before the end of a run is given up. */
const endPatienceMs = 120_000;

/**
 * Runs a drill and judges it.
 * @throws E_DRILL_HALTED, E_DRILL_BUSY before anything; E_DRILL_REFUSED with every reason of preflight;
 *   E_DRILL_LEFT at once after `hurry`; what goes on then is for the end of the process to end
 */
export async function runDrill(options: RunDrillOptions): Promise<DrillResult> {
  const { hurry, say } = options;
  let open: OpenRun | undefined;
  const work = perform(options, (begun) => {
    open = begun;
  });
  if (!hurry) return work;
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => {
      say(open?.course.farewell() ?? "leaving; no fault is on");
      const signal = typeof hurry.reason === "string" ? hurry.reason : "a second signal";
      const leaseS = Math.ceil((open?.lease.leaseMs ?? runLeaseMs) / 1_000);
      reject(new EscapementError("E_DRILL_LEFT", { signal, leaseS }));
    };
  });
  if (hurry.aborted) leave();
  else hurry.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    hurry.removeEventListener("abort", leave);
  }
}

interface OpenRun {
  readonly course: DrillCourse;
  readonly lease: RunLease;
}

async function perform(options: RunDrillOptions, onBegun: (run: OpenRun) => void): Promise<DrillResult> {
  const { db, definition, variant, controller } = options;
  await endAbandonedRun(options);
  const halt = await activeDrillHalt(db);
  if (halt)
    throw new EscapementError("E_DRILL_HALTED", {
      since: halt.at.toISOString(),
      person: halt.person,
      reason: halt.reason,
    });
  const runId = options.runId ?? randomUUID();
  const startedAt = await beginDrillRun(
    db,
    {
      runId,
      drill: variant.name === "" ? definition.name : `${definition.name}/${variant.name}`,
      class: definition.class,
      digest: options.digest,
      person: options.person,
      trigger: options.trigger,
      version: options.version,
      controller,
      targets: [],
    },
    30_000,
  );
  const lease = new RunLease(db, runId, controller);
  lease.start();
  const course = new DrillCourse(options, runId, startedAt, lease);
  onBegun({ course, lease });
  return finish(options, runId, lease, course);
}

async function finish(
  { db, person, controller, say }: RunDrillOptions,
  runId: string,
  lease: RunLease,
  course: DrillCourse,
): Promise<DrillResult> {
  let refused: EscapementError | undefined;
  let result: DrillResult;
  try {
    result = await course.run();
  } catch (error) {
    if (isEscapementError(error) && error.code === "E_DRILL_REFUSED" && !course.begun) refused = error;
    result = await course.broken(messageOf(error), { told: refused !== undefined });
  }
  const deadline = monotonicMs() + endPatienceMs;
  try {
    const remove = () => removeProbes(db, { person, reason: `end of drill ${runId}` });
    await whileAway(remove, deadline).catch((error) => {
      if (isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE") throw error;
      // What a drill has found is not lost for that; the next one removes them, or does not begin.
      const why = `its probes could not be removed: ${messageOf(error)}`;
      say(why);
      result = withDoubt(result, why);
    });
    const { report } = result;
    const summary = {
      ...(refused && { refused: true }),
      variant: report.variant,
      target: report.target,
      counts: report.judged?.counts ?? null,
      figures: report.judged?.figures ?? null,
      measures: report.measures,
      evidence: report.evidence,
      unproven: report.unproven,
      failures: report.failures,
      unknown: report.unknown,
      audits: report.audits,
    };
    const end = { verdict: report.verdict, reason: report.reason, summary };
    await whileAway(() => endDrillRun(db, runId, controller, end), deadline);
  } finally {
    await lease.end();
    await course.close();
  }
  if (refused) throw refused;
  return result;
}

/** The same result, but never a pass. */
export function withDoubt({ report, history }: DrillResult, doubt: string): DrillResult {
  const { verdict, reason } = report;
  return {
    report: {
      ...report,
      unknown: [...report.unknown, doubt],
      ...(verdict === "pass" && { verdict: "unknown", reason: doubt }),
      ...(verdict === "unknown" && { reason: `${reason}; ${doubt}` }),
    },
    history,
  };
}
