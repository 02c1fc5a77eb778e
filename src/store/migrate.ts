/**
 * Brings the record store to the schema that this program knows.
 *
 * Each migration is one transaction together with its row in
 * `escapement.migration`, so that one interrupted half way leaves nothing. Two
 * migrators at a time queue behind a transaction-level advisory lock. A
 * migration that was applied with another text is drift and stops everything.
 */
import { createHash } from "node:crypto";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { type Database, type Queryable, sqlState } from "./database.ts";
import { type Migration, migrations } from "./migrations/index.ts";

/** The oldest PostgreSQL the record store works on. */
const minimumServerVersion = 150_000;
/** For one table; well below the shortest time between two renewals and the end of a lease. */
const tableLockMs = 1_000;
const betweenTriesMs = 1_000;
/** For a migration as a whole. */
const patienceMs = 60_000;
const lockNotAvailable = "55P03";

export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly kind: "expand" | "contract";
  readonly digest: string;
}

export interface MigrateResult {
  /** The migrations that this call applied, in order. */
  readonly applied: readonly AppliedMigration[];
  /** The schema version now. */
  readonly version: number;
}

/** SHA-256 of a migration's text. */
export function migrationDigest(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}

/**
 * Applies what is missing, and makes the partitions for the months around now.
 * @throws E_STORE_VERSION, E_STORE_DRIFTED, E_STORE_TOO_NEW, E_STORE_UNAVAILABLE
 */
export async function migrate(db: Database): Promise<MigrateResult> {
  await requireServerVersion(db);
  const applied: AppliedMigration[] = [];
  for (const migration of migrations) {
    if (await applyPatiently(db, migration)) {
      applied.push({
        number: migration.number,
        name: migration.name,
        kind: migration.kind,
        digest: migrationDigest(migration),
      });
    }
  }
  await checkSchema(db);
  await db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp() - interval '1 month', clock_timestamp() + interval '2 months')",
  );
  return { applied, version: migrations.length };
}

/** The migrations that the store has; an empty list when it was never set up. */
export async function appliedMigrations(db: Queryable): Promise<AppliedMigration[]> {
  const exists = await db.query<{ found: boolean }>(
    "SELECT to_regclass('escapement.migration') IS NOT NULL AS found",
  );
  if (!exists.rows[0]?.found) return [];
  const { rows } = await db.query<AppliedMigration>(
    "SELECT number, name, kind, digest FROM escapement.migration ORDER BY number",
  );
  return rows;
}

/**
 * Makes sure that this program may write into the store. A newer schema is
 * accepted only while all it added is of kind `expand`: versions N and N−1 run
 * side by side.
 * @throws E_STORE_NOT_MIGRATED, E_STORE_TOO_NEW, E_STORE_DRIFTED
 */
export async function checkSchema(db: Queryable): Promise<void> {
  const applied = await appliedMigrations(db);
  for (const migration of migrations) {
    const found = applied.find((row) => row.number === migration.number);
    if (!found)
      throw new EscapementError("E_STORE_NOT_MIGRATED", { found: applied.length, needed: migrations.length });
    if (found.digest !== migrationDigest(migration)) {
      throw new EscapementError("E_STORE_DRIFTED", { migration: `${migration.number} (${migration.name})` });
    }
  }
  const unknown = applied.filter((row) => row.number > migrations.length);
  if (unknown.some((row) => row.kind === "contract")) {
    throw new EscapementError("E_STORE_TOO_NEW", { found: applied.length, known: migrations.length });
  }
}

async function requireServerVersion(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ number: string; text: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS text",
  );
  if (Number(rows[0]?.number) < minimumServerVersion) {
    throw new EscapementError("E_STORE_VERSION", { found: rows[0]?.text ?? "unknown" });
  }
}

/**
 * A change of a table waits for whoever reads it, and everybody who comes after
 * waits behind the change: renewals of leases, too. So it waits for a moment
 * only, and is tried again.
 */
async function applyPatiently(db: Database, migration: Migration): Promise<boolean> {
  const untilMs = monotonicMs() + patienceMs;
  for (;;) {
    try {
      return await applyOne(db, migration);
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || monotonicMs() > untilMs) throw error;
      await sleep(betweenTriesMs);
    }
  }
}

/** Returns false when another call, now or earlier, has applied it. */
async function applyOne(db: Database, migration: Migration): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.query("SET LOCAL lock_timeout = '60s'");
    await tx.query("SELECT pg_advisory_xact_lock(hashtext('escapement.migrate'))");
    await tx.query("CREATE SCHEMA IF NOT EXISTS escapement");
    await tx.query(
      `CREATE TABLE IF NOT EXISTS escapement.migration (
         number integer PRIMARY KEY,
         name text NOT NULL,
         kind text NOT NULL CHECK (kind IN ('expand', 'contract')),
         digest text NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         applied_by text NOT NULL DEFAULT current_user
       )`,
    );
    const digest = migrationDigest(migration);
    const { rows } = await tx.query<{ digest: string }>(
      "SELECT digest FROM escapement.migration WHERE number = $1",
      [migration.number],
    );
    if (rows[0]) {
      if (rows[0].digest !== digest) {
        throw new EscapementError("E_STORE_DRIFTED", {
          migration: `${migration.number} (${migration.name})`,
        });
      }
      return false;
    }
    await tx.query(`SET LOCAL lock_timeout = ${tableLockMs}`);
    await tx.query(migration.sql);
    await tx.query("INSERT INTO escapement.migration (number, name, kind, digest) VALUES ($1, $2, $3, $4)", [
      migration.number,
      migration.name,
      migration.kind,
      digest,
    ]);
    return true;
  });
}
