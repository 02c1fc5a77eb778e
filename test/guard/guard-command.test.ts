/** `escapement guard`: install, list, resolve. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGuard } from "../../src/guard/index.ts";
import { Database } from "../../src/store/database.ts";
import { guardInstallSql, installGuard } from "../../src/store/guard-schema.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { runEscapement } from "../support/processes.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
});
afterAll(() => db.close());

const guard = (...args: string[]) => runEscapement(["guard", ...args, "--url", db.url]);

async function emptyDatabase(work: (fresh: FreshDatabase, pool: pg.Pool) => Promise<void>): Promise<void> {
  const fresh = await freshDatabase({ migrated: false });
  const pool = new pg.Pool({ connectionString: fresh.url });
  // The server may say goodbye to a connection that is just being closed.
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  try {
    await work(fresh, pool);
  } finally {
    await pool.end();
    await fresh.drop();
  }
}

describe("install", () => {
  test("again changes nothing, and many at once do it once", () =>
    emptyDatabase(async (fresh) => {
      const databases = Array.from({ length: 5 }, () => new Database(fresh.url));
      const done = await Promise.all(databases.map((database) => installGuard(database)));
      expect(done.map((one) => one.versionBefore).toSorted()).toEqual([0, 1, 1, 1, 1]);
      expect(done.filter((one) => one.partitionsCreated > 0)).toHaveLength(1);
      await Promise.all(databases.map((database) => database.end()));
    }));

  test("the printed SQL installs the same", () =>
    emptyDatabase(async (_, pool) => {
      await pool.query((await runEscapement(["guard", "install", "--print-sql"])).stdout);
      expect(await openGuard(pool).checkpoint("x/2026-07")).toMatchObject({ position: null });
    }));

  test("beside the record store in one database", async () => {
    const fresh = await freshDatabase({ migrated: true });
    const one = await runEscapement(["guard", "install", "--json", "--url", fresh.url]);
    expect(JSON.parse(one.stdout)).toMatchObject({ versionBefore: 0, version: 1 });
    await fresh.drop();
  });

  test("a role that was granted nothing but the guard can use all of it", () =>
    emptyDatabase(async (fresh, pool) => {
      const role = `job_${process.pid}`;
      await pool.query(`CREATE ROLE ${role} LOGIN`);
      const installed = await runEscapement(["guard", "install", "--grant-to", role, "--url", fresh.url]);
      expect(installed.stdout).toMatch(/installed version 1/);
      const url = new URL(fresh.url);
      url.username = role;
      const asRole = new pg.Pool({ connectionString: url.href, max: 2 });
      // Dropping the database ends what is just being closed.
      asRole.on("connect", (client) => client.on("error", () => {}));
      asRole.on("error", () => {});
      const theirs = openGuard(asRole);
      await theirs.once({ job: "j", period: "2026-07", leaseMs: 5_000, blocking: "skip" }, async (run) => {
        const options = { receiver: { name: "r", deduplicating: true }, request: 1, leaseMs: 5_000 };
        expect(await theirs.externalCall(`${run.key}/1`, options, async () => "ok")).toMatchObject({
          status: "done",
        });
        const client = await asRole.connect();
        await client.query("BEGIN");
        await theirs.withFence(client, run.fence);
        await theirs.claim(`${run.key}/1`, client);
        await (await theirs.checkpoint<number>(run.key)).save(client, 1).catch(() => {});
        await client.query("COMMIT");
        client.release();
        const list = theirs.workItems(run.key, { leaseMs: 5_000, maxAttempts: 1 });
        await list.add([{ item: "a" }]);
        expect(await list.work({ batch: 1 }, (item) => item.done())).toMatchObject({ complete: true });
      });
      for (const forbidden of [
        "DELETE FROM escapement_guard.effect_key",
        "DELETE FROM escapement_guard.external_call",
        "UPDATE escapement_guard.meta SET low_water = '0001-01-01'",
        "UPDATE escapement_guard.settlement SET reason = ''",
      ]) {
        await expect(asRole.query(forbidden)).rejects.toMatchObject({ code: "42501" });
      }
      await asRole.end();
      await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }));

  test("a role that may not is told so: 4, and it is not called a bug", () =>
    emptyDatabase(async (fresh, pool) => {
      const role = `poor_${process.pid}`;
      await pool.query(`CREATE ROLE ${role} LOGIN`);
      const url = new URL(fresh.url);
      url.username = role;
      const refused = { code: 4, stderr: expect.stringMatching(/permission denied for database.*owner/s) };
      expect(await runEscapement(["guard", "install", "--url", url.href])).toMatchObject(refused);
      await pool.query(guardInstallSql(role));
      for (const args of [["install"], ["prune", "--keep-months", "14"]]) {
        const one = await runEscapement(["guard", ...args, "--url", url.href]);
        expect(one).toMatchObject({ code: 4, stderr: expect.stringContaining("permission denied") });
      }
      await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }));

  test("a role that does not exist: 65", () =>
    emptyDatabase(async (fresh) => {
      const one = await runEscapement(["guard", "install", "--url", fresh.url, "--grant-to", "no body"]);
      expect(one).toMatchObject({
        code: 65,
        stderr: expect.stringContaining('role "no body" does not exist'),
      });
    }));

  test("a schema newer than the program is left alone and not used", () =>
    emptyDatabase(async (fresh, pool) => {
      await pool.query(guardInstallSql());
      await pool.query("UPDATE escapement_guard.meta SET schema_version = 99");
      const one = await runEscapement(["guard", "install", "--url", fresh.url]);
      expect(one).toMatchObject({ code: 4, stderr: expect.stringContaining("schema version 99") });
      await expect(openGuard(pool).checkpoint("x/2026-07")).rejects.toMatchObject({ code: "E_GUARD_SCHEMA" });
    }));

  test("without it every command says how to get it", () =>
    emptyDatabase(async (fresh, pool) => {
      const one = await runEscapement(["guard", "list", "--url", fresh.url]);
      expect(one).toMatchObject({ code: 69, stderr: expect.stringContaining("escapement guard install") });
      await expect(openGuard(pool).checkpoint("x/2026-07")).rejects.toMatchObject({
        code: "E_GUARD_NOT_INSTALLED",
      });
      const claim = openGuard(pool).claim("x/2026-07", pool);
      await expect(claim).rejects.toMatchObject({ code: "E_GUARD_NOT_INSTALLED" });
    }));

  test("no database named: 64; not there: 69", async () => {
    const environment = { ESCAPEMENT_GUARD_URL: undefined };
    expect(await runEscapement(["guard", "list"], { environment })).toMatchObject({ code: 64 });
    expect(await runEscapement(["guard", "list", "--url", "postgres://x@127.0.0.1:1/x"])).toMatchObject({
      code: 69,
    });
  });
});

describe("list and resolve", () => {
  beforeAll(async () => {
    await db.pool.query(`
      SELECT escapement_guard.call_begin('pay/2026-07/ada', '{"amount": 5, "token": "s3cret"}', 'bank', false, '1 ms');
      SELECT escapement_guard.call_begin('pay/2026-07/bob', '{"amount": 6}', 'bank', false, '1 ms');
      SELECT escapement_guard.call_begin('pay/2026-07/cyd', '{"amount": 7}', 'bank', false, '10 min');
      SELECT escapement_guard.once_acquire('pay', '2026-07', 'period', 'h', 'host-a', 4, '1 ms', 'skip');
      SELECT pg_sleep(0.01)`);
  });

  test("shows what a person has to settle, exit 1; without --in-doubt also the rest", async () => {
    const doubt = await guard("list", "--in-doubt");
    expect(doubt.code).toBe(1);
    expect(doubt.stdout).toMatch(
      /call +pay\/2026-07\/ada +in-doubt .*bank \{"token": "\*\*\*", "amount": 5\}/,
    );
    expect(doubt.stdout).toMatch(/run +pay\/2026-07 +holder died .*host-a pid 4/);
    expect(doubt.stdout).not.toMatch(/cyd|s3cret/);
    const all = JSON.parse((await guard("list", "--json")).stdout);
    expect(
      all.open
        .map((one: { key: string; state: string; inDoubt: boolean }) => [one.key, one.state, one.inDoubt])
        .toSorted(),
    ).toEqual([
      ["pay/2026-07", "holder died", true],
      ["pay/2026-07/ada", "in-doubt", true],
      ["pay/2026-07/bob", "in-doubt", true],
      ["pay/2026-07/cyd", "pending", false],
    ]);
  });

  test("done, retry and a run; each is written down with who and why", async () => {
    const said = ["--reason", "asked the bank", "--by", "kim"];
    expect(await guard("resolve", "pay/2026-07/ada", "--done", ...said)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/in-doubt is now done/),
    });
    expect(await guard("resolve", "pay/2026-07/bob", "--retry", ...said)).toMatchObject({ code: 0 });
    expect(await guard("resolve", "pay/2026-07", "--done", ...said)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/run pay\/2026-07: running/),
    });
    expect(await guard("list", "--in-doubt")).toMatchObject({ code: 0, stdout: "nothing is in doubt\n" });
    const { rows } = await db.pool.query(
      "SELECT kind, key, state_before, state_after, settled_by, reason FROM escapement_guard.settlement ORDER BY settlement_id",
    );
    expect(rows.map((row) => Object.values(row).join(" "))).toEqual([
      "call pay/2026-07/ada in-doubt done kim asked the bank",
      "call pay/2026-07/bob in-doubt ready kim asked the bank",
      "run pay/2026-07 running done kim asked the bank",
    ]);
    const options = {
      receiver: { name: "bank", deduplicating: false },
      request: { amount: 6 },
      leaseMs: 5_000,
    };
    expect(await db.guard.externalCall("pay/2026-07/bob", options, async () => "paid")).toMatchObject({
      status: "done",
      first: true,
    });
  });

  test("what can not be settled is called by its name", async () => {
    const call = { receiver: { name: "r", deduplicating: true }, request: 1, leaseMs: 5_000 };
    await db.guard.externalCall("told/2026-07/paid", call, async () => 1);
    const paid = await guard("resolve", "told/2026-07/paid", "--retry", "--reason", "x");
    expect(paid).toMatchObject({ code: 4, stderr: expect.stringContaining("call told/2026-07/paid") });
    expect(paid.stderr).toMatch(/it is done/);
    const unknown = await guard("resolve", "told/2026-07/nobody", "--retry", "--reason", "x");
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringMatching(/no call and no run.*nobody/) });
  });

  test("two people settle the same call: the second is told what it is now", async () => {
    const call = { receiver: { name: "r", deduplicating: false }, request: 1, leaseMs: 5_000 };
    await db.guard.externalCall("both/2026-07/a", call, async () => Promise.reject(new Error("lost")));
    const ends = await Promise.all([
      guard("resolve", "both/2026-07/a", "--done", "--reason", "one"),
      guard("resolve", "both/2026-07/a", "--retry", "--reason", "two"),
    ]);
    expect(ends.map((end) => end.code).toSorted()).toEqual([0, 4]);
    const { rows } = await db.pool.query(
      "SELECT state_after FROM escapement_guard.settlement WHERE key = 'both/2026-07/a'",
    );
    expect(rows).toHaveLength(1);
  });

  test("what is done, running, or not there can not be settled: 4; neither or both answers: 64", async () => {
    for (const key of ["pay/2026-07/ada", "pay/2026-07/cyd", "pay/2026-07/nobody"]) {
      expect(await guard("resolve", key, "--retry", "--reason", "x")).toMatchObject({ code: 4 });
    }
    expect(await guard("resolve", "pay/2026-07/ada", "--reason", "x")).toMatchObject({ code: 64 });
    expect(await guard("resolve", "pay/2026-07/ada", "--done", "--retry", "--reason", "x")).toMatchObject({
      code: 64,
    });
    expect(await guard("resolve", "pay/2026-07/ada", "--done")).toMatchObject({ code: 64 });
  });

  test("a key that is a call and a run: which one must be said", async () => {
    await db.pool.query(`
      SELECT escapement_guard.call_begin('both/2026-07', '1', 'bank', false, '1 ms');
      SELECT escapement_guard.once_acquire('both', '2026-07', 'period', 'h', 'host-a', 4, '1 ms', 'skip');
      SELECT pg_sleep(0.01)`);
    expect(await guard("resolve", "both/2026-07", "--done", "--reason", "x")).toMatchObject({ code: 64 });
    expect(await guard("resolve", "both/2026-07", "--done", "--run", "--reason", "x")).toMatchObject({
      code: 0,
    });
    expect(await guard("resolve", "both/2026-07", "--done", "--reason", "x")).toMatchObject({ code: 0 });
  });
});
