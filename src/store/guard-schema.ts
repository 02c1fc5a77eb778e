/** Installs the guard's schema into a job's database, and says which version is there. */
import { z } from "zod";
import { EscapementError } from "../base/errors.ts";
import type { Database, Queryable } from "./database.ts";
import tables from "./guard/001-tables.sql";
import callFunctions from "./guard/call.sql";
import checkpointFunctions from "./guard/checkpoint.sql";
import claimFunctions from "./guard/claim.sql";
import fenceFunctions from "./guard/fence.sql";
import keyFunctions from "./guard/key.sql";
import onceFunctions from "./guard/once.sql";
import pruneFunctions from "./guard/prune.sql";
import replaceFunctions from "./guard/replace.sql";
import workFunctions from "./guard/work.sql";
import { asGuardError } from "./guard-error.ts";

/** Table changes, append-only: entry n brings version n to n + 1. Functions are replaced at every install. */
const steps: readonly string[] = [tables];

const functions = [
  keyFunctions,
  claimFunctions,
  callFunctions,
  fenceFunctions,
  checkpointFunctions,
  workFunctions,
  replaceFunctions,
  onceFunctions,
  pruneFunctions,
].join("\n");

/** The schema version this program knows. */
export const guardSchemaVersion: number = steps.length;

/** The oldest server that has all we use, as `server_version_num`. */
const oldestServer = 130_000;

/** Months of partitions to create: last year's late keys, and a year ahead. */
const monthsBack = 13;
const monthsAhead = 12;

/** Everything `install` would run on an empty database, for a DBA to read. */
export function guardInstallSql(grantTo?: string): string {
  return [
    "BEGIN;",
    ...steps,
    functions,
    months,
    ...(grantTo === undefined ? [] : [grantSql(grantTo)]),
    "COMMIT;",
    "",
  ].join("\n");
}

const months = `SELECT count(*) AS created FROM escapement_guard.ensure_months(
  (clock_timestamp() - interval '${monthsBack} months')::date, (clock_timestamp() + interval '${monthsAhead} months')::date);`;

export interface GuardInstallation {
  /** 0 when nothing was installed before. */
  readonly versionBefore: number;
  readonly version: number;
  /** Monthly partitions that were missing and are there now. */
  readonly partitionsCreated: number;
}

/**
 * Brings the schema to this program's version, in one transaction. Safe to run
 * by many at once and again and again.
 * @param grantTo a role that may then use every function.
 * @throws E_STORE_VERSION (server too old), E_STORE_TOO_NEW
 */
export async function installGuard(database: Database, grantTo?: string): Promise<GuardInstallation> {
  return await database.transaction(async (tx) => {
    const server = await tx.query<{ n: string; v: string }>(
      "SELECT current_setting('server_version_num') AS n, current_setting('server_version') AS v",
    );
    if (Number(server.rows[0]?.n) < oldestServer) {
      throw new EscapementError("E_GUARD_SERVER_VERSION", { found: server.rows[0]?.v ?? "?" });
    }
    // Any number will do, as long as two installs use the same one.
    await tx.query("SELECT pg_advisory_xact_lock(7391005)");
    const versionBefore = await installedVersion(tx);
    if (versionBefore > guardSchemaVersion) {
      throw new EscapementError("E_GUARD_SCHEMA", { found: versionBefore, known: guardSchemaVersion });
    }
    for (const step of steps.slice(versionBefore)) await tx.query(step);
    await tx.query(functions);
    await tx.query("UPDATE escapement_guard.meta SET schema_version = $1", [guardSchemaVersion]);
    const created = await tx.query<{ created: string }>(months);
    if (grantTo !== undefined) await tx.query(grantSql(grantTo));
    return {
      versionBefore,
      version: guardSchemaVersion,
      partitionsCreated: Number(created.rows[0]?.created ?? 0),
    };
  });
}

/** The version in this database; 0 when the guard is not installed. */
export async function installedVersion(db: Queryable): Promise<number> {
  const there = await db.query<{ there: boolean }>(
    "SELECT to_regclass('escapement_guard.meta') IS NOT NULL AS there",
  );
  if (!z.boolean().parse(there.rows[0]?.there)) return 0;
  const version = await db.query<{ v: number }>("SELECT schema_version AS v FROM escapement_guard.meta");
  return z.number().int().parse(version.rows[0]?.v);
}

/** Fails unless this database has the version this program knows. @throws E_GUARD_NOT_INSTALLED, E_GUARD_SCHEMA */
export async function requireGuard(db: Queryable): Promise<void> {
  let found: number;
  try {
    found = await installedVersion(db);
  } catch (error) {
    throw asGuardError(error);
  }
  if (found === 0) throw new EscapementError("E_GUARD_NOT_INSTALLED");
  if (found !== guardSchemaVersion)
    throw new EscapementError("E_GUARD_SCHEMA", { found, known: guardSchemaVersion });
}

function grantSql(role: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  // A job may add and change, but not delete a key, move the mark of what was pruned, or rewrite what people decided.
  return [
    `GRANT USAGE ON SCHEMA escapement_guard TO ${name};`,
    `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA escapement_guard TO ${name};`,
    `REVOKE INSERT, UPDATE ON escapement_guard.meta FROM ${name};`,
    `REVOKE UPDATE ON escapement_guard.settlement FROM ${name};`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA escapement_guard TO ${name};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA escapement_guard TO ${name};`,
  ].join("\n");
}
