/** Puts a class and a cause together as the diagnosis of one fire. */
import type { Diagnosis, FailureClass } from "./diagnosis.ts";
import { executionEvidence, type Fire } from "./fire.ts";
import { nextCommand } from "./next-command.ts";
import type { Reading } from "./reading.ts";

export function verdict(
  fire: Fire,
  kind: FailureClass,
  why: Reading,
  text: string,
  more: { readonly also?: readonly FailureClass[]; readonly intended?: boolean } = {},
): Diagnosis {
  const { jobId, job, fireTime, execution } = fire;
  return {
    jobId,
    job,
    fireTime,
    class: kind,
    also: more.also ?? [],
    cause: why.cause,
    certain: why.certain,
    intended: more.intended ?? false,
    text,
    evidence: [...(execution ? [executionEvidence(execution)] : []), ...why.evidence],
    next: nextCommand(kind, why.cause, job, fireTime),
  };
}
