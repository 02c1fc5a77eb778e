/** `escapement once`: a run of a command for one fire time or period, on whichever host comes first. */

import { formatDuration } from "../base/duration.ts";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { finishRun, giveBackRun, type OnceAnswer, type RunEnd, renewRun } from "../store/guard-once.ts";
import { requireGuard } from "../store/guard-schema.ts";
import { type CommandEnd, runCommand } from "./command-run.ts";
import { findProgram } from "./find-program.ts";
import { trustMarginMs } from "./lease-keeper.ts";
import { askForRun, type GrantedRun, type OnceOptions, slotOf } from "./once.ts";
import { persist } from "./persist.ts";
import type { Queryable } from "./queryable.ts";

export type OnceCommandOptions = OnceOptions & {
  readonly command: string;
  readonly args: readonly string[];
  /** After a signal: how long the command may take to end before it is killed. */
  readonly graceMs: number;
};

/** Wall clocks that differ by more than this are worth a remark. */
const notableOffsetMs = 2_000;

/**
 * Runs the command if nobody else has run, or runs, this slot.
 * @param tell says one line to the person or the mail of cron.
 * @returns the exit code for "ran", "nothing to do" and "command failed".
 * @throws for everything else: E_PROGRAM_MISSING, E_GUARD_HOLDER_DIED, E_REFUSED, E_UNAVAILABLE, E_UNKNOWN
 */
export async function runOnce(
  db: Queryable,
  options: OnceCommandOptions,
  tell: (line: string) => void,
): Promise<ExitCode> {
  // Looked for first: a host without the program must not take the run from one that has it.
  if (findProgram(options.command) === undefined)
    throw missing(options.command, "it is not in PATH, or may not be executed");
  const { answer, granted } = await ask(db, options);
  tellOffset(answer, tell);
  const key = `${options.job}/${slotOf(options).slot}`;
  if (granted === undefined) return notRun(answer, key, options, tell);
  if (answer.other_slot !== null) {
    tell(
      `once: the holder of ${options.job}/${answer.other_slot} died; settle it with: escapement guard resolve ${options.job}/${answer.other_slot}`,
    );
  }
  const end = await runCommand({
    command: options.command,
    args: options.args,
    env: childEnvironment(options, granted),
    leaseMs: options.leaseMs,
    sentAtMs: granted.sentAtMs,
    graceMs: options.graceMs,
    renew: () => renewRun(db, options.job, granted.slot, granted.token, options.leaseMs),
  });
  return await conclude(db, options, granted, end, key, tell);
}

async function ask(db: Queryable, options: OnceOptions) {
  try {
    await requireGuard(db);
    return await askForRun(db, options);
  } catch (error) {
    if (!(error instanceof EscapementError) || error.code !== "E_STORE_UNAVAILABLE") throw error;
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `the guard's database does not answer, so nothing was run: ${messageOf(error.cause)}`,
        hint: "check --url; without the database nobody can know whether another host runs it",
      },
      { cause: error },
    );
  }
}

function notRun(
  answer: OnceAnswer,
  key: string,
  options: OnceCommandOptions,
  tell: (line: string) => void,
): ExitCode {
  const holder = `${answer.holder_host ?? "?"} (pid ${answer.holder_pid ?? "?"})`;
  const since = answer.since === null ? "?" : formatInstant(answer.since);
  switch (answer.decision) {
    case "done":
      tell(`once: ${key} is done since ${since} (${holder}); nothing to do`);
      return ExitCode.ok;
    case "running":
      tell(`once: ${key} is being run by ${holder} since ${since}; nothing to do`);
      return ExitCode.ok;
    case "failed":
      tell(
        `once: ${key} failed on ${holder} at ${since}: ${answer.reason ?? "?"}; start it with --rerun-after-failure to run it again`,
      );
      return ExitCode.failed;
    case "died":
      throw new EscapementError("E_GUARD_HOLDER_DIED", {
        key,
        what: `${holder} started it at ${since} and did not report an end`,
      });
    case "early":
      throw new EscapementError("E_REFUSED", {
        what: `${key} lies ahead: the database clock says ${formatInstant(answer.database_time)}`,
        hint: "nothing was run; set this host's clock, or check its time zone",
      });
    default:
      if (options.blocking === "fail")
        throw new EscapementError("E_REFUSED", {
          what: `${key}: ${blockedReason(answer)}`,
          hint: "nothing was run",
        });
      tell(`once: ${key} is skipped: ${blockedReason(answer)}`);
      return ExitCode.ok;
  }
}

function blockedReason(answer: OnceAnswer): string {
  return answer.reason ?? `the run of ${answer.other_slot ?? "an earlier fire"} is still running`;
}

async function conclude(
  db: Queryable,
  options: OnceCommandOptions,
  granted: GrantedRun,
  end: CommandEnd,
  key: string,
  tell: (line: string) => void,
): Promise<ExitCode> {
  if (end.kind === "not-started") {
    await giveBackRun(db, options.job, granted.slot, granted.token, `not started: ${end.message}`).catch(
      () => {},
    );
    throw missing(options.command, end.message);
  }
  const written = await writeDown(db, options, granted, asRunEnd(end));
  if (end.kind === "lost") {
    throw new EscapementError("E_UNKNOWN", {
      what: `${key} was cut short: ${end.reason}; the command was killed`,
      hint: `what it did is not known; another host may run it now. escapement guard list --in-doubt shows where it stands`,
    });
  }
  if (written !== "written") {
    throw new EscapementError("E_UNKNOWN", {
      what: `${key}: the command ended with ${end.exitCode}, but that could not be written down: ${written}`,
      hint: `settle it with: escapement guard resolve ${key} --done or --retry`,
    });
  }
  if (end.kind === "interrupted") throw new EscapementError("E_INTERRUPTED", { signal: end.by });
  if (end.left) tell("once: the command left processes behind; they were killed");
  if (end.exitCode === 0) return ExitCode.ok;
  tell(
    `once: ${key}: the command ended with ${end.exitCode}${end.signal === null ? "" : ` (${end.signal})`}`,
  );
  return ExitCode.failed;
}

function asRunEnd(end: Exclude<CommandEnd, { kind: "not-started" }>): RunEnd {
  switch (end.kind) {
    case "ended":
      return end.exitCode === 0
        ? { state: "done", exitCode: 0, reason: null }
        : { state: "failed", exitCode: end.exitCode, reason: `the command ended with ${end.exitCode}` };
    case "interrupted":
      return { state: "interrupted", exitCode: end.exitCode, reason: `stopped by ${end.by}` };
    case "lost":
      return { state: "interrupted", exitCode: null, reason: `killed: ${end.reason}` };
  }
}

/** @returns "written", or why not */
async function writeDown(
  db: Queryable,
  options: OnceOptions,
  granted: GrantedRun,
  end: RunEnd,
): Promise<string> {
  const untilMs = monotonicMs() + Math.max(trustMarginMs(options.leaseMs), Math.min(options.leaseMs, 10_000));
  try {
    const isOurs = await persist(() => finishRun(db, options.job, granted.slot, granted.token, end), untilMs);
    return isOurs ? "written" : "another host has taken it over";
  } catch (error) {
    return messageOf(error);
  }
}

/** What the command learns; the same names as under an executor. */
function childEnvironment(options: OnceOptions, granted: GrantedRun): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ESCAPEMENT_JOB: options.job,
    ESCAPEMENT_SHARD_NO: "0",
    ESCAPEMENT_SHARD_COUNT: "1",
    ESCAPEMENT_ATTEMPT: String(granted.attempt),
    ESCAPEMENT_FENCE_TOKEN: granted.token,
    ESCAPEMENT_IDEMPOTENCY_KEY: `${options.job}/${granted.slot}`,
  };
  delete env.ESCAPEMENT_FIRE_TIME;
  delete env.ESCAPEMENT_PERIOD;
  env[options.fireTime === undefined ? "ESCAPEMENT_PERIOD" : "ESCAPEMENT_FIRE_TIME"] = granted.slot;
  return env;
}

/** The database's clock decides; that this host's is off is still worth knowing. */
function tellOffset(answer: OnceAnswer, tell: (line: string) => void): void {
  const offsetMs = Date.now() - answer.database_time.getTime();
  if (Math.abs(offsetMs) < notableOffsetMs) return;
  const size = formatDuration(Math.round(Math.abs(offsetMs) / 1_000) * 1_000);
  tell(
    `once: this host's clock is ${size} ${offsetMs > 0 ? "ahead of" : "behind"} the database's, which is the one that counts`,
  );
}

function missing(program: string, reason: string): EscapementError {
  return new EscapementError("E_PROGRAM_MISSING", {
    program,
    hint: `${reason}; nothing was run here, and another host may still run it`,
  });
}
