/** Fences and checkpoints. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fenceFromEnvironment } from "../../src/guard/index.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
  await db.pool.query("CREATE TABLE note (text text)");
});
afterAll(() => db.close());

const fenced = (resource: string, token: string | number | bigint, text: string) =>
  db.transaction(async (tx) => {
    await db.guard.withFence(tx, { resource, token });
    await tx.query("INSERT INTO note VALUES ($1)", [text]);
  });

async function notes(prefix: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ text: string }>(
    "SELECT text FROM note WHERE text LIKE $1 ORDER BY text",
    [`${prefix}%`],
  );
  return rows.map((row) => row.text);
}

describe("withFence", () => {
  test("an equal or newer token passes, an older one is refused and writes nothing", async () => {
    await fenced("ledger/2026-07", 5, "a1");
    await fenced("ledger/2026-07", 5n, "a2");
    await fenced("ledger/2026-07", "6", "a3");
    await expect(fenced("ledger/2026-07", 5, "a4")).rejects.toMatchObject({ code: "E_GUARD_STALE" });
    expect(await notes("a")).toEqual(["a1", "a2", "a3"]);
  });

  test("a stale holder that swallows the error can not commit either", async () => {
    await fenced("ledger/2026-08", 2, "b1");
    await db.transaction(async (tx) => {
      await db.guard.withFence(tx, { resource: "ledger/2026-08", token: 1 }).catch(() => {});
      await tx.query("INSERT INTO note VALUES ('b2')").catch(() => {});
    });
    expect(await notes("b")).toEqual(["b1"]);
  });

  test("tokens beyond what a number can hold are compared exactly", async () => {
    await fenced("big/2026-07", "9007199254740993", "c1");
    await expect(fenced("big/2026-07", "9007199254740992", "c2")).rejects.toMatchObject({
      code: "E_GUARD_STALE",
    });
  });

  test("two holders queue, and the older one, second, is refused", async () => {
    const newer = await db.pool.connect();
    await newer.query("BEGIN");
    await db.guard.withFence(newer, { resource: "queue/2026-07", token: 2 });
    const older = fenced("queue/2026-07", 1, "d1");
    older.catch(() => {});
    await db.someoneWaits();
    await newer.query("COMMIT");
    newer.release();
    await expect(older).rejects.toMatchObject({ code: "E_GUARD_STALE" });
  });

  test.each(["REPEATABLE READ", "SERIALIZABLE"])(
    "%s is refused: what an older holder wrote a moment ago would stay unseen",
    async (level) => {
      const resource = `snapshot/2026-07/${level}`;
      await db.transaction((tx) => db.guard.withFence(tx, { resource, token: 1 }));
      const older = await db.pool.connect();
      await older.query("BEGIN");
      await db.guard.withFence(older, { resource, token: 1 });
      const newer = await db.pool.connect();
      await newer.query(`BEGIN ISOLATION LEVEL ${level}`);
      const passing = db.guard.withFence(newer, { resource, token: 2 }).then(
        () => newer.query<{ text: string }>("SELECT text FROM note WHERE text = $1", [resource]),
        (error: unknown) => error,
      );
      await older.query("INSERT INTO note VALUES ($1)", [resource]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await older.query("COMMIT");
      expect(await passing).toMatchObject({
        code: "E_REFUSED",
        message: expect.stringContaining("read committed"),
      });
      await newer.query("ROLLBACK");
      older.release();
      newer.release();
    },
  );

  test("outside a transaction it refuses: the lock would be gone before the write", async () => {
    await expect(db.guard.withFence(db.pool, { resource: "x/2026-07", token: 1 })).rejects.toMatchObject({
      code: "E_GUARD_NO_TRANSACTION",
    });
  });

  test("a holder that freezes in its transaction is cut off", async () => {
    const limit = await db.transaction(async (tx) => {
      await db.guard.withFence(tx, { resource: "x/2026-07", token: 1 });
      return (await tx.query("SHOW idle_in_transaction_session_timeout")).rows[0]
        .idle_in_transaction_session_timeout;
    });
    expect(limit).toBe("15s");
  });

  test("a resource needs no date in its name", async () => {
    await fenced("ledger", 1, "e1");
    await expect(fenced("ledger", 0, "e2")).rejects.toMatchObject({ code: "E_GUARD_STALE" });
  });
});

test("the fence of the environment", () => {
  const env = {
    ESCAPEMENT_JOB: "settle",
    ESCAPEMENT_FIRE_TIME: "2026-07-01T00:00:00.000Z",
    ESCAPEMENT_FENCE_TOKEN: "9007199254740993",
  };
  const resource = "settle/2026-07-01T00:00:00.000Z";
  expect(fenceFromEnvironment({ ...env, ESCAPEMENT_SHARD_NO: "3" })).toEqual({
    resource: `${resource}/3`,
    token: "9007199254740993",
  });
  expect(fenceFromEnvironment(env).resource).toBe(`${resource}/0`);
  expect(() => fenceFromEnvironment({ ...env, ESCAPEMENT_FENCE_TOKEN: "" })).toThrow(
    /no fence in the environment/,
  );
});

describe("checkpoint", () => {
  test("the next one to open starts where the last saved, and takes over", async () => {
    const first = await db.guard.checkpoint<{ lastId: number }>("walk/2026-07");
    expect(first.position).toBeNull();
    await db.transaction((tx) => first.save(tx, { lastId: 10 }));
    const second = await db.guard.checkpoint<{ lastId: number }>("walk/2026-07");
    expect(second.position).toEqual({ lastId: 10 });
    await db.transaction((tx) => second.save(tx, { lastId: 20 }));
    await expect(db.transaction((tx) => first.save(tx, { lastId: 11 }))).rejects.toMatchObject({
      code: "E_GUARD_STALE",
    });
    expect((await db.guard.checkpoint("walk/2026-07")).position).toEqual({ lastId: 20 });
  });

  test("what is rolled back is not saved", async () => {
    const place = await db.guard.checkpoint<number>("walk/2026-08");
    const broken = db.transaction(async (tx) => {
      await place.save(tx, 1);
      throw new Error("broken");
    });
    await expect(broken).rejects.toThrow("broken");
    expect((await db.guard.checkpoint("walk/2026-08")).position).toBeNull();
  });

  test("outside a transaction it refuses", async () => {
    const place = await db.guard.checkpoint<number>("walk/2026-09");
    await expect(place.save(db.pool, 1)).rejects.toMatchObject({ code: "E_GUARD_NO_TRANSACTION" });
  });

  test("a position that says nothing is refused: the next run would begin at the start", async () => {
    const place = await db.guard.checkpoint("walk/2026-10");
    for (const nothing of [undefined, null, () => 1]) {
      await expect(db.transaction((tx) => place.save(tx, nothing))).rejects.toMatchObject({
        code: "E_BAD_DATA",
      });
    }
  });
});
