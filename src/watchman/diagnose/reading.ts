/** A cause with what speaks for it. */
import type { Cause, Evidence } from "./diagnosis.ts";

export interface Reading {
  readonly cause: Cause;
  /** False: the records allow another explanation. */
  readonly certain: boolean;
  /** A clause that completes "because". */
  readonly because: string;
  readonly evidence: readonly Evidence[];
}

export function reading(
  cause: Cause,
  certain: boolean,
  because: string,
  evidence: readonly Evidence[] = [],
): Reading {
  return { cause, certain, because, evidence };
}
