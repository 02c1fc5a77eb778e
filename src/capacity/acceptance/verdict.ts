/** The result of one acceptance test. What could not be looked at is unknown, never a pass. */

export interface Verdict {
  readonly status: "pass" | "fail" | "unknown";
  /** What was seen, or why nothing was. */
  readonly observed: string;
}

/** The text of a file or a command; undefined: it could not be read, and `reason` says why. */
export interface Reading {
  readonly text: string | undefined;
  readonly reason: string;
}

export const pass = (observed: string): Verdict => ({ status: "pass", observed });
export const fail = (observed: string): Verdict => ({ status: "fail", observed });
export const unknown = (observed: string): Verdict => ({ status: "unknown", observed });

export function passIf(condition: boolean, observed: string): Verdict {
  return condition ? pass(observed) : fail(observed);
}
