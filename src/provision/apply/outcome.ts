/** What became of one host, and the recap of all. */
import type { ErrorCode } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { HostFailure } from "../../remote/failure.ts";

export type HostStatus = "ok" | "changed" | "failed" | "skipped" | "unreachable" | "unknown";

export interface HostOutcome {
  readonly host: string;
  readonly status: HostStatus;
  /**
   * unchanged, committed; moved, refused, busy: nothing was changed; reverted: all was put
   * back; broken: putting back did not finish; lost: nobody knows yet, the host reverts by itself.
   */
  readonly result:
    | "unchanged"
    | "committed"
    | "moved"
    | "refused"
    | "busy"
    | "reverted"
    | "broken"
    | "lost"
    | "not-started";
  readonly changes: number;
  /** Resources that could not be judged, though a host of this kind could tell: never a pass. */
  readonly unknowns: readonly string[];
  /** Resources that a host of this kind can never have (`needs-vm: …`): not right, and nothing left to do here. */
  readonly beyondHost: readonly string[];
  /** What is wrong and not for apply to put right: a user that somebody else makes. Never a pass. */
  readonly leftToOthers: readonly string[];
  readonly deferred: readonly { readonly unit: string; readonly reason: string }[];
  /** What moved between plan and apply. */
  readonly moved: readonly string[];
  /** Of the error on the way to the host; what the host itself says has a reason only. */
  readonly code?: ErrorCode;
  readonly reason?: string;
  readonly hint?: string;
  readonly transaction?: string;
}

const empty = {
  changes: 0,
  unknowns: [],
  beyondHost: [],
  leftToOthers: [],
  deferred: [],
  moved: [],
} as const;

export function outcome(
  host: string,
  status: HostStatus,
  result: HostOutcome["result"],
  more: Partial<HostOutcome> = {},
): HostOutcome {
  return { ...empty, ...more, host, status, result };
}

/** An error on the way to the host, as the host's outcome. */
export function outcomeOfFailure(host: string, { status, code, message, hint }: HostFailure): HostOutcome {
  const result = status === "unknown" ? "lost" : "not-started";
  return outcome(host, status, result, { code, reason: message, hint });
}

/**
 * 0 all well; 3 some hosts failed; 1 all did, or something is wrong that apply cannot put right;
 * 69 none was reached; 5 something could not be judged, though the host could tell.
 */
export function outcomesExitCode(outcomes: readonly HostOutcome[]): ExitCode {
  const bad = outcomes.filter(({ status }) => status !== "ok" && status !== "changed");
  if (bad.length === 0 && outcomes.some(({ leftToOthers }) => leftToOthers.length > 0))
    return ExitCode.failed;
  if (bad.length === 0)
    return outcomes.some(({ unknowns }) => unknowns.length > 0) ? ExitCode.unknown : ExitCode.ok;
  if (bad.length < outcomes.length) return ExitCode.partial;
  if (bad.every(({ status }) => status === "unreachable")) return ExitCode.unavailable;
  if (bad.every(({ result }) => result === "moved" || result === "busy" || result === "refused"))
    return ExitCode.refused;
  return ExitCode.failed;
}
