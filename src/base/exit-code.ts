/**
 * The exit codes of every command. One table: help texts, tests and
 * `docs/exit-codes.md` read it, nothing else may invent a number.
 */
export const ExitCode = {
  /** Done as asked. */
  ok: 0,
  /** The answer is no: a check, a verification or a job failed. */
  failed: 1,
  /** There are changes to make; only with `--exit-code`. */
  changesPending: 2,
  /** Some of the targets were done, some were not. */
  partial: 3,
  /** Refused on purpose: a lock, a guard, a policy. */
  refused: 4,
  /** Could not find out. Never counts as a pass. */
  unknown: 5,
  /** The command line was wrong. */
  usage: 64,
  /** A file or a row was wrong. */
  badData: 65,
  /** Something we need is not there: database, host, program. */
  unavailable: 69,
  /** Our bug. */
  bug: 70,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** What each code means, in the words that help texts print. */
export const exitCodeMeaning: Record<ExitCode, string> = {
  0: "ok",
  1: "failed",
  2: "changes pending (only with --exit-code)",
  3: "partial: some targets failed",
  4: "refused",
  5: "unknown: could not look",
  64: "usage: the command line is wrong",
  65: "bad data: a file or a row is wrong",
  69: "unavailable: database, host or program is not there",
  70: "our bug",
  130: "interrupted",
};
