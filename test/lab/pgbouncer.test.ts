import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findPgbouncer, type Pgbouncer, startPgbouncer } from "../../src/lab/pgbouncer.ts";
import { Database } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { freshDatabase } from "../support/database.ts";
import { unavailable } from "../support/tier.ts";

describe.skipIf(unavailable("pgbouncer", findPgbouncer() !== undefined))("pgbouncer", () => {
  let bouncer: Pgbouncer;
  beforeAll(async () => {
    bouncer = await startPgbouncer({ serverUrl: inject("postgresUrl"), poolSize: 1 });
  });
  afterAll(async () => {
    const { pid } = bouncer;
    await bouncer.stop();
    expect(() => process.kill(pid, 0)).toThrow();
    if (existsSync("/proc")) expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test("it is in transaction mode: two clients share one server connection, and session state strays", async () => {
    const fresh = await freshDatabase({ migrated: false });
    const [one, two] = [1, 2].map(() => new Database(bouncer.through(fresh.url), { maxConnections: 1 })) as [
      Database,
      Database,
    ];
    const pid = async (db: Database) =>
      (await db.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    expect(await pid(one)).toBe(await pid(two));
    await one.query("SET work_mem = '7MB'");
    const { rows } = await two.query("SHOW work_mem");
    expect(rows[0]?.work_mem).toBe("7MB");
    await one.end();
    await two.end();
    await fresh.drop();
  });

  test("an empty database is migrated through it, with a single server connection", async () => {
    const fresh = await freshDatabase({ migrated: false });
    const database = new Database(bouncer.through(fresh.url), { maxConnections: 4 });
    const first = await migrate(database);
    expect(first.applied.length).toBeGreaterThan(0);
    expect((await migrate(database)).applied).toEqual([]);
    await database.end();
    await fresh.drop();
  });

  test("a server that is not there is an error", async () => {
    await expect(
      startPgbouncer({ serverUrl: "postgresql://postgres@127.0.0.1:1/postgres" }),
    ).rejects.toMatchObject({
      code: "E_UNAVAILABLE",
    });
  });
});
