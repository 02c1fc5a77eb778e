/** Part of the registry of errors: what can keep a drill from beginning, and from its end. */
import type { ErrorSpec } from "./errors.ts";
import { ExitCode } from "./exit-code.ts";

export const drillErrors = {
  E_DRILL_UNKNOWN: {
    message: "there is no drill {drill}",
    hint: "escapement drill list shows the drills{suggestion}",
    exitCode: ExitCode.usage,
  },
  E_DRILL_REFUSED: {
    message: "{host} takes no drill now: {reason}",
    hint: "nothing was broken{hint}",
    exitCode: ExitCode.refused,
  },
  E_DRILL_BUSY: {
    message: "a drill is on already: {what}",
    hint: "one drill a cluster; escapement drill status shows it, escapement drill abort --reason TEXT ends it, also where its controller is gone",
    exitCode: ExitCode.refused,
  },
  E_DRILL_HALTED: {
    message: "drills are halted since {since} by {person}: {reason}",
    hint: "escapement drill resume --reason TEXT lets them begin again",
    exitCode: ExitCode.refused,
  },
  E_DRILL_LEFT: {
    message: "left by {signal} before the drill had ended",
    hint: "escapement drill abort --reason TEXT ends a run that stays open and removes its probe jobs, once its lease is over (at most {leaseS} s from now); so does the next escapement drill run",
    exitCode: ExitCode.interrupted,
  },
  E_DRILL_UNWRITTEN: {
    message: "report and history of the run cannot be written to {folder}: {reason}",
    hint: "verdict and reason are in the record store: escapement drill history {run}; look at the folder, its permissions and its free space before the next run",
    exitCode: ExitCode.unavailable,
  },
} as const satisfies Record<string, ErrorSpec>;
