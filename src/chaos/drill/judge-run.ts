/** The end of a run that went through: the load is stopped, the records are read at rest, and all is judged. */
import type { DrillRecords } from "../../store/drill/drill-records.ts";
import { judge } from "../checker.ts";
import { collectHistory } from "./collect-history.ts";
import { conclude, culpritsOf, executorTakeoverMs, offsetAfterMs } from "./conclude.ts";
import type { DrillCourse } from "./drill-course.ts";
import type { DrillLoad } from "./drill-load.ts";
import type { DrillMeasures, DrillResult } from "./drill-report.ts";
import { recordedFault } from "./recorded-fault.ts";
import { awaitRest, whileAway } from "./settle-records.ts";
import { writeReport } from "./write-report.ts";

export interface JudgeQuestion {
  readonly course: DrillCourse;
  readonly load: DrillLoad;
  /** By our monotonic clock. */
  readonly restoredMs: number;
  readonly enter: (state: "judging") => Promise<void>;
}

/** Unfinished work that did not move for this many leases is stuck. */
const stuckLeases = 3;
const leastStuckMs = 15_000;

export async function judgeRun({ course, load, restoredMs, enter }: JudgeQuestion): Promise<DrillResult> {
  const { options, notes } = course;
  const { db, definition, variant, cluster } = options;
  const { witness } = load;
  const deadline = restoredMs + definition.settle.deadlineMs;
  const probes = await load.stop(deadline);
  const { records, settled, stuck } = await awaitRest({
    db,
    jobIds: probes.map(({ jobId }) => jobId),
    since: course.startedAt,
    settle: definition.settle,
    stuckAfterMs: Math.max(leastStuckMs, cluster.executor.leaseMs * stuckLeases),
    busy: () => witness.live().length > 0,
    restoredMs,
  });
  if (stuck > 0) course.log.say(`${stuck} executions are not finished and nothing moves them`);
  await enter("judging");
  if (witness.strange.length > 0)
    notes.doubts.push(`the witness heard a strange line: ${witness.strange[0]}`);
  const { fault } = notes;
  const missing =
    course.book?.missing(notes.asked, variant.fault.kind, fault?.restoredAtMs ?? null) ?? variant.proof;
  const unproven = missing.map(({ see, from }) => `${see} by ${from}`);
  const collected = await whileAway(
    () =>
      collectHistory({
        db,
        definition,
        variant,
        witness,
        probes,
        records,
        settled,
        fault: recordedFault(course, missing.length === 0),
        struck: [...load.struck],
        startedAt: course.startedAt,
      }),
    deadline,
  );
  const judged = judge(collected.history);
  const measures = measure(course, load, records, collected.hit);
  const conclusion = conclude({
    variant,
    measures,
    judged,
    audits: notes.audits,
    restored: fault?.restoredAtMs != null,
    unproven,
    inEffect: course.book?.isInEffect(missing) ?? false,
    guilty: guilty(course),
    doubts: notes.doubts,
  });
  if (collected.leftOut.length > 0)
    course.log.say(
      `${collected.leftOut.length} other jobs were changed meanwhile or have no schedule: not judged`,
    );
  course.log.say(`${conclusion.verdict}: ${conclusion.reason}`);
  return {
    report: writeReport(course, { judged, measures, conclusion, unproven }),
    history: collected.history,
  };
}

/** Whose clock the comparison must name: the target's, and with it the database's if that is on it. */
function guilty({ options, notes }: DrillCourse): string[] {
  const host = options.hosts.find(({ name }) => name === notes.target?.host);
  if (!host) return [];
  return host.parts.includes("record-store") ? [host.name, "database"] : [host.name];
}

function measure(
  { options, notes, hosts }: DrillCourse,
  load: DrillLoad,
  records: DrillRecords,
  hit: Parameters<typeof executorTakeoverMs>[0],
): DrillMeasures {
  const { variant } = options;
  const { fault, watch, order, target } = notes;
  const faultAtMs = fault?.faultAtMs ?? null;
  const since = (ms: number | null | undefined, fromMs: number | null | undefined) =>
    ms == null || fromMs == null ? null : Math.max(0, ms - fromMs);
  const seen = hosts.find(({ name }) => name === target?.host)?.last;
  return {
    takeoverMs:
      faultAtMs === null
        ? null
        : variant.target.role === "executor"
          ? executorTakeoverMs(hit, records.attempts, faultAtMs)
          : since(watch?.leaderMovedAtMs, faultAtMs),
    restartedMs: since(watch?.restartedAtMs, order?.keepDown ? fault?.restoredAtMs : faultAtMs),
    offsetAfterMs: offsetAfterMs(seen, fault?.restoredAtMs ?? null),
    culprits: culpritsOf(watch?.comparisons ?? []),
    staleWritesRefused: load.witness.refusals.filter(({ reason }) => reason === "stale").length,
  };
}
