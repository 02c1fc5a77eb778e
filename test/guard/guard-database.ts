/** A fresh database with the guard in it, for the tests of this folder. */
import pg from "pg";
import { type Guard, openGuard } from "../../src/guard/index.ts";
import { Database } from "../../src/store/database.ts";
import { installGuard } from "../../src/store/guard-schema.ts";
import { freshDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

export interface GuardDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly guard: Guard;
  /** Runs `work` between BEGIN and COMMIT, or ROLLBACK when it throws. */
  transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Resolves when a connection of this database waits for a lock, as the server itself says. */
  someoneWaits(): Promise<void>;
  close(): Promise<void>;
}

export async function guardDatabase(): Promise<GuardDatabase> {
  const fresh = await freshDatabase({ migrated: false });
  const database = new Database(fresh.url);
  await installGuard(database);
  await database.end();
  const pool = new pg.Pool({ connectionString: fresh.url, max: 10 });
  pool.on("error", () => {});
  // A connection that a test has taken out, or that is just being opened, when the database is dropped.
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    url: fresh.url,
    pool,
    guard: openGuard(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const result = await work(client);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    async someoneWaits() {
      const waiting =
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      await until(async () => (await pool.query(waiting)).rowCount, { what: "someone to wait for a lock" });
    },
    async close() {
      await pool.end();
      await fresh.drop();
    },
  };
}

/** What an error of ours looks like to `rejects.toMatchObject`. */
export function failure(code: string) {
  return { code };
}
