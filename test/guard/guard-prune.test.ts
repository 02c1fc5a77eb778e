/** `escapement guard prune`, and the months ahead. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runEscapement } from "../support/processes.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
});
afterAll(() => db.close());

const guard = (...args: string[]) => runEscapement(["guard", ...args, "--url", db.url]);

describe("prune", () => {
  const claim = (key: string) => db.transaction((tx) => db.guard.claim(key, tx));
  const kept = async (table: string) =>
    (
      await db.pool.query(`SELECT key FROM escapement_guard.${table} WHERE key LIKE 'old/%' ORDER BY key`)
    ).rows.map((row) => row.key);

  test("drops whole months, keeps what is unsettled, and refuses what it dropped for ever", async () => {
    // One month has a partition of its own, the other lies in the default partition.
    await db.pool.query("SELECT escapement_guard.ensure_months('2020-05-01', '2020-05-01')");
    for (const key of ["old/2020-05/a", "old/2019-03/b", "old/2099-01/c"]) await claim(key);
    await db.pool.query(`
      SELECT escapement_guard.call_begin('old/2020-05/doubt', '1', 'bank', false, '1 ms');
      SELECT escapement_guard.checkpoint_open('old/2020-05/place')`);
    const one = await guard("prune", "--keep-months", "14");
    expect(one.code).toBe(0);
    expect(one.stdout).toMatch(/effect_key_2020_05: dropped/);
    expect(one.stdout).toMatch(/effect_key_other: 1 rows deleted/);
    expect(one.stdout).toMatch(/external_call_2020_05: kept: has unsettled entries/);
    expect(await kept("effect_key")).toEqual(["old/2099-01/c"]);
    expect(await kept("checkpoint")).toEqual([]);
    const refused = { code: "E_GUARD_TOO_OLD" };
    await expect(claim("old/2020-05/a")).rejects.toMatchObject(refused);
    await expect(db.transaction((tx) => db.guard.claimMany(["old/2019-03/b"], tx))).rejects.toMatchObject(
      refused,
    );
    await expect(db.guard.checkpoint("old/2020-05/place")).rejects.toMatchObject(refused);
    await expect(
      db.transaction((tx) => db.guard.withFence(tx, { resource: "old/2020-05", token: 1 })),
    ).rejects.toMatchObject(refused);
    await expect(
      db.guard.once({ job: "old", period: "2020-05", leaseMs: 5_000, blocking: "skip" }, async () => {}),
    ).rejects.toMatchObject(refused);
    await expect(
      db.guard.workItems("old/2020-05", { leaseMs: 1, maxAttempts: 1 }).add([{ item: "a" }]),
    ).rejects.toMatchObject(refused);
    const options = { receiver: { name: "bank", deduplicating: true }, request: 1, leaseMs: 5_000 };
    await expect(db.guard.externalCall("old/2020-05/new", options, async () => "x")).rejects.toMatchObject(
      refused,
    );
    // What was kept because it was unsettled can still be settled, and goes with the next pruning.
    expect(await guard("resolve", "old/2020-05/doubt", "--done", "--reason", "x")).toMatchObject({ code: 0 });
    expect((await guard("prune", "--keep-months", "14")).stdout).toMatch(/external_call_2020_05: dropped/);
  });

  test("fewer months than executions are kept for: 64", async () => {
    expect(await guard("prune", "--keep-months", "13")).toMatchObject({ code: 64 });
  });

  test("a claim that is under way when the mark moves does not slip through", async () => {
    await db.pool.query("SELECT escapement_guard.ensure_months('2020-06-01', '2020-06-01')");
    await db.pool.query("UPDATE escapement_guard.meta SET low_water = '0001-01-01'");
    const client = await db.pool.connect();
    await client.query("BEGIN");
    await db.guard.claim("slip/2020-06/a", client);
    await db.pool.query("SELECT escapement_guard.prune_mark('2020-07-01')");
    const dropping = db.pool.query("SELECT what FROM escapement_guard.prune_drop()");
    await db.someoneWaits();
    await client.query("COMMIT");
    client.release();
    expect((await dropping).rows).toContainEqual({ what: "effect_key_2020_06" });
    await expect(claim("slip/2020-06/a")).rejects.toMatchObject({ code: "E_GUARD_TOO_OLD" });
  });

  test("while a job's transaction is open, new months wait a moment and give up; claims go on", async () => {
    await db.pool.query("SELECT escapement_guard.ensure_months('2031-01-01', '2031-01-01')");
    const client = await db.pool.connect();
    await client.query("BEGIN");
    await db.guard.claim("long/2031-01/a", client);
    const months = db.pool.query("SELECT escapement_guard.ensure_months('2031-02-01', '2031-02-01')");
    await expect(months).rejects.toMatchObject({ code: "55P03" });
    expect(await claim("long/2031-01/b")).toMatchObject({ first: true });
    await client.query("COMMIT");
    client.release();
  });
});
