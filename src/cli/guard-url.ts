/** Which database holds the guard: --url, then the environment. */
import type { Command } from "commander";
import { EscapementError, messageOf } from "../base/errors.ts";
import { Database, sqlState } from "../store/database.ts";

export interface GuardUrlOptions {
  readonly url?: string;
}

/** Adds the option by which every guard command finds its database. */
export function withGuardUrl(command: Command): Command {
  return command.option("--url <url>", "database the job writes to (default: ESCAPEMENT_GUARD_URL)");
}

/** @throws E_USAGE */
export function guardUrl(options: GuardUrlOptions): string {
  const url = options.url || process.env.ESCAPEMENT_GUARD_URL;
  if (url) return url;
  throw new EscapementError("E_USAGE", {
    what: "no database is named: pass --url URL or set ESCAPEMENT_GUARD_URL",
  });
}

/**
 * Opens the job's database, runs the work, and closes it again.
 * @throws E_UNAVAILABLE when it does not answer or only reads, E_REFUSED when it forbids the step or is busy, E_BAD_DATA
 */
export async function withGuardDatabase<T>(
  options: GuardUrlOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  // More connections than work needs: one that hangs must not keep a renewal from using the next.
  const db = new Database(guardUrl(options), { maxConnections: 6, applicationName: "escapement guard" });
  try {
    return await work(db);
  } catch (error) {
    throw asGuardAnswer(error);
  } finally {
    await db.end();
  }
}

/** What the server says in its own words, with what to do about it. */
function asGuardAnswer(error: unknown): unknown {
  if (error instanceof EscapementError && error.code !== "E_STORE_UNAVAILABLE") return error;
  const what = messageOf(error);
  const options = { cause: error };
  switch (sqlState(error)) {
    case "42501":
      return new EscapementError(
        "E_REFUSED",
        {
          what,
          hint: "use the owner of the schema escapement_guard; a job's role gets its rights from its owner: escapement guard install --grant-to ROLE",
        },
        options,
      );
    case "25006":
      return new EscapementError(
        "E_UNAVAILABLE",
        { what: `the server only reads: ${what}`, hint: "name the primary, not a standby, in --url" },
        options,
      );
    case "55P03":
      return new EscapementError(
        "E_REFUSED",
        {
          what: `the guard's tables are in use by a long transaction: ${what}`,
          hint: "this step changed nothing; run the command again when that transaction has ended",
        },
        options,
      );
    case "42704":
      return new EscapementError("E_BAD_DATA", { what, hint: "create the role first" }, options);
    default:
      if (!(error instanceof EscapementError)) return error;
      return new EscapementError(
        "E_UNAVAILABLE",
        {
          what: `the guard's database does not answer: ${messageOf(error.cause)}`,
          hint: "check --url or ESCAPEMENT_GUARD_URL",
        },
        options,
      );
  }
}
