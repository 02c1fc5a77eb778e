/** What an error means for one host: a line in a recap, never the end of the others. */
import { type ErrorCode, EscapementError, isEscapementError, messageOf } from "../base/errors.ts";

/**
 * unreachable: we never got in. failed: we were in, and it did not work.
 * unknown: the connection broke while something ran. skipped: never started.
 */
export type FailureStatus = "unreachable" | "failed" | "unknown" | "skipped";

export interface HostFailure {
  readonly status: FailureStatus;
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

const statusOf: Partial<Record<ErrorCode, FailureStatus>> = {
  E_HOST_UNREACHABLE: "unreachable",
  E_HOST_KEY_UNKNOWN: "unreachable",
  E_HOST_KEY_CHANGED: "unreachable",
  E_HOST_KEY_REVOKED: "unreachable",
  E_HOST_AUTH: "unreachable",
  E_HOST_LOST: "unknown",
  E_INTERRUPTED: "skipped",
};

/** Anything thrown, as a result. What is not an error of ours is told as a bug of ours. */
export function remoteFailure(error: unknown): HostFailure {
  const known = isEscapementError(error)
    ? error
    : new EscapementError("E_BUG", { what: messageOf(error) }, { cause: error });
  return {
    status: statusOf[known.code] ?? "failed",
    code: known.code,
    message: known.message,
    hint: known.hint,
  };
}
