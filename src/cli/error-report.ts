/** Prints what was thrown: what happened, where, and what to do next. */
import { CommanderError } from "commander";
import { EscapementError, isEscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { redact } from "../base/redact.ts";
import { harmless } from "./terminal.ts";

/**
 * Writes the error to standard error (as JSON when the command line asked for
 * `--json`) and returns the exit code. The stack is shown with `--debug` only.
 */
export function reportError(thrown: unknown): ExitCode {
  if (thrown instanceof CommanderError) {
    // commander has already printed its text; help and version are not errors.
    return thrown.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  }
  const error = isEscapementError(thrown) ? thrown : ofAnother(thrown);
  if (process.argv.includes("--json")) {
    const { code, hint, exitCode, at } = error;
    process.stderr.write(
      `${JSON.stringify({ error: { code, message: redact(error.message), hint, at, exitCode } })}\n`,
    );
  } else {
    const lines = [`error ${error.code}: ${redact(error.message)}`];
    if (error.at) lines.push(`  at ${error.at}`);
    if (error.hint) lines.push(`  hint: ${error.hint}`);
    if (process.argv.includes("--debug")) lines.push(stackOf(thrown));
    process.stderr.write(`${harmless(lines.join("\n"))}\n`);
  }
  return error.exitCode;
}

/** PostgreSQL's code for a login without the right; whatever else arrives here is a mistake of ours. */
const insufficientPrivilege = "42501";

function ofAnother(thrown: unknown): EscapementError {
  const denied = (thrown as { code?: unknown } | null | undefined)?.code === insufficientPrivilege;
  return denied
    ? new EscapementError("E_STORE_DENIED", { reason: messageOf(thrown) }, { cause: thrown })
    : new EscapementError("E_BUG", { what: messageOf(thrown) }, { cause: thrown });
}

function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause === undefined ? "" : `\ncaused by ${stackOf(thrown.cause)}`;
  return redact((thrown.stack ?? thrown.message) + cause);
}
