/** What a gate ends with. */
import { ExitCode } from "../../base/exit-code.ts";
import type { Outcome } from "../../checklist/verdict.ts";

export const gateExit: Readonly<Record<Outcome, ExitCode>> = {
  pass: ExitCode.ok,
  fail: ExitCode.failed,
  unknown: ExitCode.unknown,
};
