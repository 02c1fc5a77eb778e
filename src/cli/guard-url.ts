/** Which database holds the guard: --url, then the environment. */
import type { Command } from "commander";
import { EscapementError, messageOf } from "../base/errors.ts";
import { Database } from "../store/database.ts";

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

/** Opens the job's database, runs the work, and closes it again. @throws E_UNAVAILABLE when it does not answer */
export async function withGuardDatabase<T>(
  options: GuardUrlOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  // More connections than work needs: one that hangs must not keep a renewal from using the next.
  const db = new Database(guardUrl(options), { maxConnections: 6, applicationName: "escapement guard" });
  try {
    return await work(db);
  } catch (error) {
    if (!(error instanceof EscapementError) || error.code !== "E_STORE_UNAVAILABLE") throw error;
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `the guard's database does not answer: ${messageOf(error.cause)}`,
        hint: "check --url or ESCAPEMENT_GUARD_URL",
      },
      { cause: error },
    );
  } finally {
    await db.end();
  }
}
