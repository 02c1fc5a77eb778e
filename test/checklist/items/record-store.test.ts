/** Item 0 with a real standby, and the rehearsal of a restore. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordStore } from "../../../src/checklist/items/00-record-store.ts";
import { inDatabase } from "../../../src/cli/store/postgres-tools.ts";
import { rehearseRestore } from "../../../src/cli/store/restore-rehearsal.ts";
import { type PostgresServer, startPostgres } from "../../../src/lab/postgres.ts";
import { recordBackup } from "../../../src/store/backup-record.ts";
import { Database, type Queryable } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { until } from "../../support/until.ts";
import { contextOf, definitionsOf, fillStore, hourMs } from "../good-cluster.ts";
import { startStandby } from "../standby.ts";

let primary: PostgresServer;
let standby: PostgresServer;
let db: Database;

beforeAll(async () => {
  primary = await startPostgres({ settings: { fsync: "off", wal_level: "logical" } });
  db = new Database(primary.url, { maxConnections: 3 });
  await migrate(db);
  await fillStore(db);
  standby = await startStandby(primary);
  await until(async () => (await verdict()).verdict === "pass", { what: "the standby to follow" });
});

afterAll(async () => {
  await db?.end();
  await standby?.remove();
  await primary?.remove();
});

async function verdict(store: Queryable | string = db) {
  const [only, ...more] = await recordStore.check(
    contextOf(store, { definitions: definitionsOf("/nowhere") }),
  );
  expect(more).toEqual([]);
  return only!;
}

async function changed(sql: string) {
  const undo = new Error("undo");
  let found: Awaited<ReturnType<typeof verdict>> | undefined;
  await db
    .transaction(async (tx) => {
      await tx.query(sql);
      found = await verdict(tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found!;
}

/** Another database that takes one table: it streams and replays, and is no copy of the records. */
async function subscribe(): Promise<void> {
  await db.query("CREATE TABLE taken (n integer PRIMARY KEY)");
  await db.query("CREATE PUBLICATION taken_rows FOR TABLE taken");
  await db.query("SELECT pg_create_logical_replication_slot('taken_rows', 'pgoutput')");
  await db.query("CREATE DATABASE taker");
  await inTaker(
    `CREATE TABLE taken (n integer PRIMARY KEY);
     CREATE SUBSCRIPTION taken_rows CONNECTION 'host=127.0.0.1 port=${primary.port} user=postgres dbname=postgres' PUBLICATION taken_rows
       WITH (create_slot = false, slot_name = 'taken_rows', copy_data = false)`,
  );
  await until(
    async () =>
      (
        await db.query(
          "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn IS NOT NULL",
        )
      ).rows.length === 1,
    { what: "the subscriber to follow" },
  );
}

async function unsubscribe(): Promise<void> {
  await inTaker("DROP SUBSCRIPTION taken_rows");
  await db.query("DROP DATABASE taker WITH (FORCE)");
  await db.query("DROP PUBLICATION taken_rows");
  await db.query("DROP TABLE taken");
}

/** One statement after the other: some of them must not run within a transaction. */
async function inTaker(sql: string): Promise<void> {
  const taker = new Database(inDatabase(primary.url, "taker"), { maxConnections: 1 });
  for (const statement of sql.split(";")) await taker.query(statement);
  await taker.end();
}

describe("item 0", () => {
  it("passes with a standby that follows and backups that were restored", async () => {
    expect(await verdict()).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/walreceiver at 127.0.0.1 follows.*a restore of 1 table/),
    });
  });

  it("shows how old the backup is, and the restore", async () => {
    const older = "UPDATE escapement.backup_record SET at = at - interval '5 days' WHERE kind = 'restore'";
    const { verdict: found, evidence } = await changed(older);
    expect(found).toBe("pass");
    const facts = evidence.flatMap(({ fact, ageMs }) => (fact ? [[fact, Math.round(ageMs! / hourMs)]] : []));
    expect(facts).toEqual([
      ["backup", 2],
      ["restore", 5 * 24 + 2],
    ]);
  });

  it.each([
    [
      "the last backup is old",
      "UPDATE escapement.backup_record SET at = at - interval '2 days' WHERE kind = 'backup'",
      /last backup is 2.1 days old/,
    ],
    [
      "no backup was recorded",
      "DELETE FROM escapement.backup_record WHERE kind = 'backup'",
      /no backup was ever recorded/,
    ],
    [
      "a restore was not counted",
      "UPDATE escapement.backup_record SET checked = '{}' WHERE kind = 'restore'",
      /no restore was ever tried and counted/,
    ],
    [
      "the last restore is old",
      "UPDATE escapement.backup_record SET at = at - interval '60 days' WHERE kind = 'restore'",
      /last restore was 60.1 days ago/,
    ],
    [
      "a restore has failed since",
      "INSERT INTO escapement.backup_record (kind, person, host, what, ok, reason) VALUES ('restore', 'p', 'h', 'w', false, 'rows differ')",
      /the last restore failed: rows differ/,
    ],
  ])("fails when %s", async (_, sql, message) => {
    expect(await changed(sql)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(message),
      todo: expect.any(String),
    });
  });

  it("is unknown for a login that may not see followers, and without a store", async () => {
    await db.query("CREATE ROLE onlooker LOGIN IN ROLE escapement_reader");
    const url = new URL(primary.url);
    url.username = "onlooker";
    const small = new Database(url.href, { maxConnections: 1 });
    const found = await verdict(small);
    await small.end();
    expect(found).toMatchObject({ verdict: "unknown", message: expect.stringMatching(/may not see/) });
    expect(await verdict("gone")).toMatchObject({ verdict: "unknown" });
  });

  it("fails when the standby is gone; who only receives, or takes single tables, does not count", async () => {
    await standby.stop();
    await until(async () => (await verdict()).verdict === "fail", { what: "the standby to be missed" });
    expect(await verdict()).toMatchObject({ message: expect.stringMatching(/no standby follows/) });
    const receiver = spawn(
      join(primary.binaries.folder, "pg_receivewal"),
      ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres", "-D", standby.directory, "-n"],
      { stdio: "ignore" },
    );
    try {
      await until(async () => (await db.query("SELECT 1 FROM pg_stat_replication")).rows.length === 1, {
        what: "the receiver",
      });
      expect(await verdict()).toMatchObject({
        verdict: "fail",
        message: expect.stringMatching(/no standby follows/),
      });
    } finally {
      receiver.kill("SIGINT");
      await once(receiver, "exit");
    }
    await subscribe();
    expect(
      (await db.query("SELECT 1 FROM pg_stat_replication WHERE replay_lsn IS NOT NULL")).rows,
    ).toHaveLength(1);
    expect(await verdict()).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/no standby follows/),
    });
    await unsubscribe();
    await standby.start();
    await until(async () => (await verdict()).verdict === "pass", { what: "the standby to follow again" });
  });
});

describe("the rehearsal of a restore", () => {
  const scratches = async () =>
    (await db.query("SELECT datname FROM pg_database WHERE datname LIKE 'escapement\\_rehearsal\\_%'")).rows;
  const rehearse = (change: { scratchUrl?: string; signal?: AbortSignal } = {}) =>
    rehearseRestore({
      url: primary.url,
      scratchUrl: primary.url,
      signal: new AbortController().signal,
      ...change,
    });

  it("counts every table, finds no drift, drops the copy, and is evidence", async () => {
    const found = await rehearse();
    expect(found).toMatchObject({ ok: true, reason: null, drift: [] });
    expect(found.tables.job).toEqual([3, 3]);
    expect(found.bytes).toBeGreaterThan(1_000);
    expect(Object.keys(found.tables).filter((name) => name.startsWith("execution_2"))).not.toEqual([]);
    expect(await scratches()).toEqual([]);
    await recordBackup(db, {
      kind: "restore",
      person: "p",
      host: "h",
      what: "w",
      bytes: found.bytes,
      checked: { tables: found.tables },
      ok: true,
      reason: null,
    });
    expect((await verdict()).message).toMatch(
      new RegExp(`a restore of ${Object.keys(found.tables).length} table\\(s\\) was counted 0.0 days ago`),
    );
  });

  it("is not ok when the copy has another schema, and the copy goes all the same", async () => {
    await db.query("ALTER TABLE escapement.job ADD COLUMN stranger integer");
    const found = await rehearse();
    await db.query("ALTER TABLE escapement.job DROP COLUMN stranger");
    expect(found).toMatchObject({ ok: false, reason: expect.stringMatching(/schema differs in \d+ line/) });
    expect(await scratches()).toEqual([]);
  });

  it("is not ok when a row cannot be restored, or when it is stopped", async () => {
    await db.query(
      "ALTER TABLE escapement.job_period ADD CONSTRAINT c CHECK (period_key <> 'bad') NOT VALID",
    );
    await db.query(
      "ALTER TABLE escapement.job_period DROP CONSTRAINT c; INSERT INTO escapement.job_period VALUES (1, 'bad', now())",
    );
    await db.query(
      "ALTER TABLE escapement.job_period ADD CONSTRAINT c CHECK (period_key <> 'bad') NOT VALID",
    );
    // A dump makes constraints of that kind after the rows, so the restore itself passes and the schema is what differs.
    expect(await rehearse()).toMatchObject({ ok: false });
    await db.query("ALTER TABLE escapement.job_period DROP CONSTRAINT c; DELETE FROM escapement.job_period");
    const stop = new AbortController();
    stop.abort();
    expect(await rehearse({ signal: stop.signal })).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/abort/i),
    });
    expect(await scratches()).toEqual([]);
  });
});
