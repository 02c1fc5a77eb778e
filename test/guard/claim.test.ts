/** Keys and claims. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
  await db.pool.query("CREATE TABLE paid (person text)");
});
afterAll(() => db.close());

const keyCases = JSON.parse(readFileSync("test/cases/guard/keys.json", "utf8")) as {
  key: string;
  date: string | null;
}[];

test.each(keyCases)("the date of key $key is $date", async ({ key, date }) => {
  const { rows } = await db.pool.query("SELECT escapement_guard.key_date_or_null($1)::text AS date", [key]);
  expect(rows[0].date).toBe(date);
});

async function paid(person: string): Promise<number> {
  return (await db.pool.query("SELECT FROM paid WHERE person = $1", [person])).rowCount ?? 0;
}

describe("claim", () => {
  test("the first runs the act, the second gets its result", async () => {
    const run = () =>
      db.transaction((tx) =>
        db.guard.claim("bonus/2026-07/a", tx, async () => {
          await tx.query("INSERT INTO paid VALUES ('a')");
          return { amount: 5, at: new Date(0) };
        }),
      );
    const result = { amount: 5, at: "1970-01-01T00:00:00.000Z" };
    expect(await run()).toMatchObject({ first: true, result });
    expect(await run()).toMatchObject({ first: false, result });
    expect(await paid("a")).toBe(1);
  });

  test("an act that fails takes its claim back with it", async () => {
    const attempt = db.transaction((tx) =>
      db.guard.claim("bonus/2026-07/b", tx, () => Promise.reject(new Error("no"))),
    );
    await expect(attempt).rejects.toThrow("no");
    expect(await db.transaction((tx) => db.guard.claim("bonus/2026-07/b", tx))).toMatchObject({
      first: true,
      result: null,
    });
  });

  test("a second one waits for the first to decide", async () => {
    const first = await db.pool.connect();
    await first.query("BEGIN");
    await db.guard.claim("bonus/2026-07/c", first);
    let isDecided = false;
    const second = db
      .transaction((tx) => db.guard.claim("bonus/2026-07/c", tx))
      .finally(() => {
        isDecided = true;
      });
    await db.someoneWaits();
    expect(isDecided).toBe(false);
    await first.query("ROLLBACK");
    first.release();
    expect(await second).toMatchObject({ first: true });
  });

  test("outside a transaction nothing is claimed", async () => {
    await expect(db.guard.claim("bonus/2026-07/d", db.pool)).rejects.toMatchObject({
      code: "E_GUARD_NO_TRANSACTION",
    });
    const client = await db.pool.connect();
    await expect(db.guard.claim("bonus/2026-07/d", client)).rejects.toMatchObject({
      code: "E_GUARD_NO_TRANSACTION",
    });
    await expect(client.query("SELECT escapement_guard.claim('bonus/2026-07/d')")).rejects.toMatchObject({
      code: "EG001",
    });
    client.release();
    expect(await db.transaction((tx) => db.guard.claim("bonus/2026-07/d", tx))).toMatchObject({
      first: true,
    });
  });

  test("a key without a date is an error", async () => {
    const attempt = db.transaction((tx) => db.guard.claim("bonus/user-1", tx));
    await expect(attempt).rejects.toMatchObject({ code: "E_GUARD_KEY_DATE" });
  });

  test("a result can only be recorded by the transaction that claimed", async () => {
    await db.transaction((tx) => db.guard.claim("bonus/2026-07/e", tx));
    const late = db.pool.query(`SELECT escapement_guard.record('bonus/2026-07/e', '1')`);
    await expect(late).rejects.toMatchObject({ code: "EG001" });
  });

  test("a claim made inside a savepoint that was rolled back is free again", async () => {
    const outcome = await db.transaction(async (tx) => {
      await tx.query("SAVEPOINT s");
      await db.guard.claim("bonus/2026-07/f", tx);
      await tx.query("ROLLBACK TO s");
      return await db.guard.claim("bonus/2026-07/f", tx);
    });
    expect(outcome.first).toBe(true);
  });

  test("a serializable second claim fails loudly instead of acting", async () => {
    const second = await db.pool.connect();
    await second.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    await db.transaction((tx) => db.guard.claim("bonus/2026-07/g", tx));
    await expect(db.guard.claim("bonus/2026-07/g", second)).rejects.toMatchObject({ code: "40001" });
    await second.query("ROLLBACK");
    second.release();
  });
});

describe("claimMany", () => {
  test("twenty processes claim the same thousand keys: each key belongs to one", async () => {
    const keys = Array.from({ length: 1_000 }, (_, i) => `many/2026-07/${i}`);
    const shuffled = (seed: number) =>
      keys.toSorted((a, b) => ((Number(a.slice(13)) * seed) % 997) - ((Number(b.slice(13)) * seed) % 997));
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => db.transaction((tx) => db.guard.claimMany(shuffled(i + 3), tx))),
    );
    expect(claims.flat().toSorted()).toEqual(keys.toSorted());
  });

  test("outside a transaction nothing is claimed", async () => {
    await expect(db.guard.claimMany(["m/2026-07/1"], db.pool)).rejects.toMatchObject({
      code: "E_GUARD_NO_TRANSACTION",
    });
    expect(await db.transaction((tx) => db.guard.claimMany(["m/2026-07/1", "m/2026-07/1"], tx))).toEqual([
      "m/2026-07/1",
    ]);
  });

  test("one key without a date refuses them all", async () => {
    const attempt = db.transaction((tx) => db.guard.claimMany(["m/2026-07/2", "m/none"], tx));
    await expect(attempt).rejects.toMatchObject({ code: "E_GUARD_KEY_DATE" });
  });
});
