/** The report of a run, however far it came. Pure. */
import type { Verdict } from "../checker.ts";
import type { Conclusion } from "./conclude.ts";
import type { DrillCourse } from "./drill-course.ts";
import type { DrillMeasures, DrillReport } from "./drill-report.ts";

export interface Judgement {
  readonly judged: Verdict;
  readonly measures: DrillMeasures;
  readonly conclusion: Conclusion;
  readonly unproven: readonly string[];
}

const nothingMeasured: DrillMeasures = {
  takeoverMs: null,
  restartedMs: null,
  offsetAfterMs: null,
  culprits: [],
  staleWritesRefused: 0,
};

/** @param judgement null: the run ended before; unknown, unless a host was left changed */
export function writeReport(course: DrillCourse, judgement: Judgement | null): DrillReport {
  const { options, notes, log, book } = course;
  const { definition, variant } = options;
  const left = notes.audits.flatMap(({ host, residue }) =>
    residue.map(({ what, detail }) => ({ class: "residue" as const, detail: `${host}: ${what}: ${detail}` })),
  );
  const conclusion: Conclusion = judgement?.conclusion ?? {
    verdict: left.length > 0 ? "fail" : "unknown",
    reason: [...left.map(({ detail }) => detail), ...notes.doubts].join("; "),
    failures: left,
    unknown: notes.doubts,
  };
  const iso = (ms: number | null | undefined) => (ms == null ? null : new Date(ms).toISOString());
  return {
    runId: course.runId,
    drill: definition.name,
    variant: variant.name,
    class: definition.class,
    digest: options.digest,
    version: options.version,
    person: options.person,
    trigger: options.trigger,
    verdict: conclusion.verdict,
    reason: conclusion.reason,
    target: notes.target,
    order: notes.order,
    startedAt: course.startedAt.toISOString(),
    faultAt: iso(notes.fault?.faultAtMs),
    restoredAt: iso(notes.fault?.restoredAtMs),
    endedAt: log.now(),
    preflight: notes.preflight,
    evidence: book?.list ?? [],
    unproven: judgement?.unproven ?? [],
    failures: conclusion.failures,
    unknown: conclusion.unknown,
    audits: notes.audits,
    measures: judgement?.measures ?? nothingMeasured,
    judged: judgement?.judged ?? null,
    clocks: notes.watch?.clocks ?? [],
    events: notes.fault?.events ?? [],
    log: log.lines,
  };
}
