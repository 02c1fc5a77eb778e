/** A database of its own for a test, on the server that test/global-setup.ts started. */
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { Database, sqlState } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { until } from "./until.ts";

export interface FreshDatabase {
  /** Superuser URL of the new database. */
  readonly url: string;
  drop(): Promise<void>;
}

const migrated = "template_migrated";
const building = "template_migrated_building";

/**
 * Makes a new database: empty, or with the schema of the record store. Migrating
 * happens once a run; every further migrated database is a copy (about 50 ms).
 */
export async function freshDatabase(options: { migrated: boolean }): Promise<FreshDatabase> {
  const server = inject("postgresUrl");
  const admin = new Database(server, { maxConnections: 1, applicationName: "test-support" });
  const name = `test_${randomBytes(6).toString("hex")}`;
  try {
    if (options.migrated) await prepareTemplate(admin, server);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${options.migrated ? migrated : "template0"}`);
  } finally {
    await admin.end();
  }
  return { url: urlOf(server, name), drop: () => drop(server, name) };
}

/** Whoever can create the building database migrates it; the others, in other processes, wait for its renaming. */
async function prepareTemplate(admin: Database, server: string): Promise<void> {
  await until(
    async () => {
      const { rows } = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [migrated]);
      if (rows.length > 0) return true;
      try {
        await admin.query(`CREATE DATABASE ${building} TEMPLATE template0`);
      } catch (error) {
        // 42P04, or 23505 when two create it in the same instant: someone else is at it.
        if (["42P04", "23505"].includes(sqlState(error) ?? "")) return false;
        throw error;
      }
      await build(admin, server);
      return true;
    },
    { what: "the migrated template database" },
  );
}

async function build(admin: Database, server: string): Promise<void> {
  try {
    const database = new Database(urlOf(server, building), { maxConnections: 2 });
    try {
      await migrate(database);
    } finally {
      await database.end();
    }
    await admin.query(`ALTER DATABASE ${building} RENAME TO ${migrated}`);
  } catch (error) {
    await admin.query(`DROP DATABASE IF EXISTS ${building} WITH (FORCE)`);
    throw error;
  }
}

async function drop(server: string, name: string): Promise<void> {
  const admin = new Database(server, { maxConnections: 1 });
  try {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } finally {
    await admin.end();
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
