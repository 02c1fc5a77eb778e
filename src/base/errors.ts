/**
 * The registry of every error the product can report: code, message, hint and
 * exit code. A message says what happened, the hint says what to do next.
 *
 * To add one, add a line to `registry`; to raise it,
 * `throw new EscapementError("E_…", { name: "value" })`. `{name}` in message
 * or hint is replaced by the parameter of that name.
 */
import { drillErrors } from "./drill-errors.ts";
import { ExitCode } from "./exit-code.ts";
import { hostErrors } from "./host-errors.ts";

export interface ErrorSpec {
  readonly message: string;
  readonly hint: string;
  readonly exitCode: ExitCode;
}

const registry = {
  // --- command line -------------------------------------------------------
  E_USAGE: { message: "{what}", hint: "run with --help to see the options", exitCode: ExitCode.usage },
  E_BAD_VALUE: {
    message: "{option}: {value} is not {expected}",
    hint: "{hint}",
    exitCode: ExitCode.usage,
  },
  E_NO_TERMINAL: {
    message: "the screens need a terminal: {reason}",
    hint: "escapement watch says the same as plain lines",
    exitCode: ExitCode.usage,
  },
  // --- files and definitions ---------------------------------------------
  E_FILE_UNREADABLE: {
    message: "cannot read {file}: {reason}",
    hint: "check the path and the permissions",
    exitCode: ExitCode.badData,
  },
  E_SPEC_INVALID: {
    message: "{count} problem(s) in {files}",
    hint: "each line above says what is wrong and in which file, with line and column where there are any",
    exitCode: ExitCode.badData,
  },
  E_CRON_SYNTAX: {
    message: "cron expression {expression}: {reason}",
    hint: "write minute, hour, day of month, month and day of week, for example 0 2 * * *; docs/time.md lists every form",
    exitCode: ExitCode.badData,
  },
  E_CRON_NEVER: {
    message: "cron expression {expression} never fires",
    hint: "no day of its months matches; where both day fields are set, a day must match both",
    exitCode: ExitCode.badData,
  },
  E_ZONE_UNKNOWN: {
    message: "time zone {zone} is not known to this Node",
    hint: "use an IANA name such as Europe/Berlin or UTC{suggestion}",
    exitCode: ExitCode.badData,
  },
  E_REPORT_INVALID: {
    message: "{file} is not a report of the checklist: {reason}",
    hint: "escapement checklist --format json -o DIR writes one",
    exitCode: ExitCode.badData,
  },
  E_REPORT_REFUSED: {
    message: "the report is refused: {reason}",
    hint: "{hint}",
    exitCode: ExitCode.refused,
  },
  E_DURATION: {
    message: "{value} is not a duration",
    hint: "write for example 500ms, 30s, 5m, 1h30m or 2d",
    exitCode: ExitCode.badData,
  },
  E_BYTES: {
    message: "{value} is not a size",
    hint: "write for example 512MiB, 4GiB or 1000kB",
    exitCode: ExitCode.badData,
  },
  E_INSTANT: {
    message: "{value} is not an instant",
    hint: "write RFC 3339 in UTC, for example 2026-07-01T02:00:00Z",
    exitCode: ExitCode.badData,
  },
  // --- record store --------------------------------------------------------
  E_STORE_UNAVAILABLE: {
    message: "the record store does not answer: {reason}",
    hint: "check that PostgreSQL runs and that the store URL is right",
    exitCode: ExitCode.unavailable,
  },
  E_STORE_DENIED: {
    message: "the login has no right to do this in the record store: {reason}",
    hint: "escapement store grant LOGIN --as ROLE gives what that role may do (docs/store.md); to apply jobs and timetables none does: do it as the owner of the database, on its host (docs/drills.md)",
    exitCode: ExitCode.unavailable,
  },
  E_STORE_URL_MISSING: {
    message: "no record store is named",
    hint: "pass --cluster FILE, --url URL, or set ESCAPEMENT_STORE_URL",
    exitCode: ExitCode.usage,
  },
  E_STORE_NOT_MIGRATED: {
    message: "the record store has schema version {found}, this program needs {needed}",
    hint: "run escapement store migrate with this version",
    exitCode: ExitCode.refused,
  },
  E_STORE_TOO_NEW: {
    message:
      "the record store has schema version {found}, which this program does not know (newest known: {known})",
    hint: "run a newer escapement; an older one must not write into this schema",
    exitCode: ExitCode.refused,
  },
  E_STORE_DRIFTED: {
    message: "migration {migration} in the record store differs from the one in this program",
    hint: "escapement store status lists the differences; do not edit the schema by hand",
    exitCode: ExitCode.failed,
  },
  E_STORE_VERSION: {
    message: "PostgreSQL {found} is too old",
    hint: "the record store needs PostgreSQL 15 or newer",
    exitCode: ExitCode.unavailable,
  },
  // --- jobs and executions --------------------------------------------------
  E_JOB_UNKNOWN: {
    message: "there is no job {job}",
    hint: "escapement jobs list shows the jobs{suggestion}",
    exitCode: ExitCode.usage,
  },
  E_EXECUTION_UNKNOWN: {
    message: "job {job} has no execution at {fireTime}",
    hint: "escapement executions --job {job} lists them",
    exitCode: ExitCode.usage,
  },
  E_REFUSED: { message: "refused: {what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_LEADERSHIP_LOST: {
    message: "this scheduler is no longer the leader (epoch {epoch})",
    hint: "another scheduler leads now; nothing was written",
    exitCode: ExitCode.refused,
  },
  E_LEASE_LOST: {
    message: "the lease of {what} has ended",
    hint: "someone else may hold it now; the write was refused",
    exitCode: ExitCode.refused,
  },
  // --- guard -------------------------------------------------------------------
  E_GUARD_NOT_INSTALLED: {
    message: "the guard is not installed in this database",
    hint: "run escapement guard install --url URL as a role that may create schemas",
    exitCode: ExitCode.unavailable,
  },
  E_GUARD_SCHEMA: {
    message: "the guard in this database has schema version {found}, this program needs {known}",
    hint: "run escapement guard install with the newer of the two programs",
    exitCode: ExitCode.refused,
  },
  E_GUARD_SERVER_VERSION: {
    message: "PostgreSQL {found} is too old for the guard",
    hint: "the guard needs PostgreSQL 13 or newer",
    exitCode: ExitCode.unavailable,
  },
  E_GUARD_NO_TRANSACTION: { message: "{what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_GUARD_IN_TRANSACTION: { message: "{what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_GUARD_STALE: { message: "{what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_GUARD_KEY_REUSED: { message: "{what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_GUARD_KEY_DATE: { message: "{what}", hint: "{hint}", exitCode: ExitCode.badData },
  E_GUARD_TOO_OLD: { message: "{what}", hint: "{hint}", exitCode: ExitCode.refused },
  E_GUARD_HOLDER_DIED: {
    message: "the run of {key} was cut short: {what}",
    hint: "find out what it did, then: escapement guard resolve {key} --done or --retry, or start it with --rerun-after-crash if a second run does no harm",
    exitCode: ExitCode.unknown,
  },
  ...hostErrors,
  ...drillErrors,
  // --- hosts: profiles ---------------------------------------------------------
  E_HOST_NO_PROFILE: {
    message: "{host} cannot be described: {reason}",
    hint: "escapement profiles list shows the profiles; the inventory names one for each host",
    exitCode: ExitCode.badData,
  },
  // --- programs and machine ---------------------------------------------------
  E_PROGRAM_MISSING: {
    message: "{program} is not installed",
    hint: "{hint}",
    exitCode: ExitCode.unavailable,
  },
  // --- lab --------------------------------------------------------------------
  E_LAB_BUSY: {
    message: "lab {name} is being put up by process {pid}",
    hint: "wait for it, or end that process and run escapement lab down --name {name} again",
    exitCode: ExitCode.refused,
  },
  E_LAB_EXISTS: {
    message: "there is a lab {name} already",
    hint: "choose another --name, or escapement lab down --name {name} first",
    exitCode: ExitCode.refused,
  },
  E_LAB_MISSING: {
    message: "there is no lab {name}",
    hint: "escapement lab up --name {name} puts one up; escapement lab status lists them",
    exitCode: ExitCode.unavailable,
  },
  E_LAB_HOST: {
    message: "lab {name} has no host {host}",
    hint: "its hosts are {hosts}",
    exitCode: ExitCode.usage,
  },
  E_LAB_HOST_OFF: {
    message: "host {host} is powered off",
    hint: "escapement lab power-on {host}",
    exitCode: ExitCode.unavailable,
  },
  E_LAB_STEP: {
    message: "{step}: {reason}",
    hint: "escapement lab down takes away what was made so far",
    exitCode: ExitCode.unavailable,
  },
  E_LAB_TIER: {
    message: "the {tier} tier of the lab cannot do this here: {reason}",
    hint: "{hint}",
    exitCode: ExitCode.unavailable,
  },
  E_UNKNOWN: { message: "could not find out: {what}", hint: "{hint}", exitCode: ExitCode.unknown },
  E_LOG_ARCHIVE: {
    message: "cannot store {place}: {reason}",
    hint: "check the archive, its credentials and its free space; the log stays on this host until it is stored",
    exitCode: ExitCode.unavailable,
  },
  E_UNAVAILABLE: { message: "{what}", hint: "{hint}", exitCode: ExitCode.unavailable },
  E_BAD_DATA: { message: "{what}", hint: "{hint}", exitCode: ExitCode.badData },
  E_INTERRUPTED: {
    message: "stopped by {signal}",
    hint: "nothing is left half done; run the command again to go on",
    exitCode: ExitCode.interrupted,
  },
  E_BUG: {
    message: "internal error: {what}",
    hint: "this is our bug; run again with --debug and report what it prints",
    exitCode: ExitCode.bug,
  },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof registry;

/** Every known code, for tests and for the documentation. */
export const errorCodes = Object.keys(registry) as ErrorCode[];

const brand = Symbol.for("escapement.error");

/** The only error type that crosses a module's border. */
export class EscapementError extends Error {
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly hint: string;
  readonly exitCode: ExitCode;
  /** Where it was found: `file:line:column`, a host, a table. */
  readonly at: string | undefined;

  /** @param code a key of the registry. @param params values for `{name}` in message and hint. */
  constructor(
    code: ErrorCode,
    params: Record<string, string | number> = {},
    options: { cause?: unknown; at?: string } = {},
  ) {
    const spec = registry[code];
    super(fill(spec.message, params), options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, "name", { value: "EscapementError", enumerable: false });
    this.code = code;
    this.hint = fill(spec.hint, params);
    this.exitCode = spec.exitCode;
    this.at = options.at;
  }
}

/** True for an error of ours, also across two copies of the bundle. */
export function isEscapementError(error: unknown): error is EscapementError {
  return typeof error === "object" && error !== null && brand in error;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error
    ? error.message || String((error as { code?: string }).code ?? error.name)
    : String(error);
}

function fill(template: string, params: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ""));
}
