/** Behind pgbouncer in transaction mode, with fewer server connections than users, nothing changes. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGuard } from "../../src/guard/index.ts";
import { findPgbouncer, type Pgbouncer, startPgbouncer } from "../../src/lab/pgbouncer.ts";
import { unavailable } from "../support/tier.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";
import { startOnce } from "./once-process.ts";

describe.skipIf(unavailable("pgbouncer", findPgbouncer() !== undefined))("through pgbouncer", () => {
  let db: GuardDatabase;
  let pooler: Pgbouncer;
  let pool: pg.Pool;
  beforeAll(async () => {
    db = await guardDatabase();
    pooler = await startPgbouncer({ serverUrl: db.url, poolSize: 2 });
    pool = new pg.Pool({ connectionString: pooler.through(db.url), max: 10 });
    await db.pool.query("CREATE TABLE paid (person text)");
  });
  afterAll(async () => {
    await pool.end();
    await pooler.stop();
    await db.close();
  });

  test("ten users claim the same twenty keys: each is acted on once", async () => {
    const guard = openGuard(pool);
    const user = async () => {
      for (let i = 0; i < 20; i++) {
        const client = await pool.connect();
        await client.query("BEGIN");
        await guard.withFence(client, { resource: "pool/2026-07", token: 1 });
        await guard.claim(`pool/2026-07/${i}`, client, async () => {
          await client.query("INSERT INTO paid VALUES ($1)", [`p${i}`]);
        });
        await client.query("COMMIT");
        client.release();
      }
    };
    await Promise.all(Array.from({ length: 10 }, user));
    const { rows } = await db.pool.query(
      "SELECT count(*)::int AS paid, count(DISTINCT person)::int AS people FROM paid",
    );
    expect(rows).toEqual([{ paid: 20, people: 20 }]);
  });

  test("a claim outside a transaction is refused, also when both questions reach the same server connection", async () => {
    await expect(openGuard(pool).claim("pool/2026-07/alone", pool)).rejects.toMatchObject({
      code: "E_GUARD_NO_TRANSACTION",
    });
    const { rows } = await db.pool.query(
      "SELECT FROM escapement_guard.effect_key WHERE key = 'pool/2026-07/alone'",
    );
    expect(rows).toEqual([]);
  });

  test("calls, checkpoints and work items", async () => {
    const guard = openGuard(pool);
    const options = {
      receiver: { name: "r", deduplicating: true },
      request: 1,
      leaseMs: 20_000,
      busyWaitMs: 20_000,
    };
    let calls = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => guard.externalCall("pool/2026-07/call", options, async () => ++calls)),
    );
    expect(outcomes.map((one) => one.status)).toEqual(Array(8).fill("done"));
    expect(calls).toBe(1);
    const list = guard.workItems("pool/2026-07/list", { leaseMs: 20_000, maxAttempts: 2 });
    await list.add(Array.from({ length: 30 }, (_, i) => ({ item: `i${i}` })));
    await Promise.all([1, 2, 3, 4].map(() => list.work({ batch: 4 }, (item) => item.done())));
    expect(await list.summary()).toMatchObject({ done: 30, complete: true });
  });

  test("escapement once, three at a time, a lease shorter than the run", async () => {
    const settings = { url: pooler.through(db.url), job: "pool", lease: "2s" };
    const three = [1, 2, 3].map(() => startOnce(settings, ["sh", "-c", "echo ran; sleep 3"]));
    expect(await Promise.all(three.map((one) => one.exit))).toEqual([0, 0, 0]);
    expect(three.map((one) => one.output.stdout).join("")).toBe("ran\n");
  });
});
