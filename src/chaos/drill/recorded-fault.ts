/** The fault of a run as its history has it. */
import type { Fault } from "../history.ts";
import type { DrillCourse } from "./drill-course.ts";

/** @returns null when the host never said that it was injected */
export function recordedFault(
  { notes, options }: DrillCourse,
  proven: boolean,
): Omit<Fault, "attemptsHit"> | null {
  const { fault, target } = notes;
  if (fault?.faultAtMs == null) return null;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    kind: options.variant.fault.kind,
    target: target?.host ?? "",
    at: iso(fault.faultAtMs),
    until: fault.restoredAtMs === null ? null : iso(fault.restoredAtMs),
    proven,
    unsupervised: [],
  };
}
