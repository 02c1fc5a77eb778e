/** Part of the registry of errors: what can keep a drill from beginning. */
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
} as const satisfies Record<string, ErrorSpec>;
