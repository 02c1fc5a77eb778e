/** Migrations: interrupted, raced, edited, newer; and drift from what they made. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Database, type Queryable } from "../../src/store/database.ts";
import { appliedMigrations, checkSchema, migrate, migrationDigest } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations/index.ts";
import { describeSchema, schemaDrift } from "../../src/store/schema-drift.ts";
import { runEscapement } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { Bench } from "./bench.ts";

const manifestFile = fileURLToPath(new URL("../../src/store/schema-manifest.json", import.meta.url));

test("the manifest is what the migrations make", async () => {
  const bench = await Bench.open();
  const lines = await describeSchema(bench.db);
  if (process.env.UPDATE_MANIFEST === "1")
    writeFileSync(manifestFile, `${JSON.stringify({ lines }, null, 2)}\n`);
  expect(JSON.parse(readFileSync(manifestFile, "utf8")).lines, "run again with UPDATE_MANIFEST=1").toEqual(
    lines,
  );
  expect(lines).toEqual([...lines].sort());
});

test("a second run changes nothing", async () => {
  const bench = await Bench.open({ migrated: false });
  expect((await migrate(bench.db)).applied.map((one) => one.number)).toEqual(
    migrations.map((one) => one.number),
  );
  const before = await describeSchema(bench.db);
  expect((await migrate(bench.db)).applied).toEqual([]);
  expect(await describeSchema(bench.db)).toEqual(before);
});

test("two migrators at once: each migration is applied once, and both end well", async () => {
  const bench = await Bench.open({ migrated: false });
  const results = await Promise.all([migrate(bench.db), migrate(bench.db), migrate(bench.db)]);
  expect(results.flatMap((result) => result.applied.map((one) => one.number)).sort()).toEqual(
    migrations.map((one) => one.number),
  );
});

test.each(migrations.map((one) => one.number))(
  "a migration %i that is killed in its middle leaves nothing of itself; the next run succeeds",
  async (number) => {
    const bench = await Bench.open({ migrated: false });
    const victim = new Database(bench.url, { maxConnections: 1, applicationName: "victim" });
    // Stops at the end of the migration's own text, before its row and its commit.
    await bench.db.query("CREATE SCHEMA block");
    await bench.db.query(
      `CREATE FUNCTION block.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF current_setting('application_name') = 'victim' AND to_regclass('escapement.migration') IS NOT NULL
         AND EXISTS (SELECT 1 FROM block.at WHERE number = (SELECT count(*) + 1 FROM escapement.migration)) THEN
         PERFORM pg_sleep(60);
       END IF;
     END $$`,
    );
    await bench.db.query("CREATE TABLE block.at (number integer)");
    await bench.db.query("INSERT INTO block.at VALUES ($1)", [number]);
    await bench.db.query(
      `CREATE EVENT TRIGGER stop ON ddl_command_end WHEN TAG IN (${["", "'CREATE INDEX'", "'CREATE FUNCTION'"][number] ?? "'GRANT'"}) EXECUTE FUNCTION block.wait()`,
    );
    const running = migrate(victim).then(
      () => "migrated",
      () => "killed",
    );
    await until(
      () =>
        bench.value<boolean>(
          `SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE application_name = 'victim' AND datname = current_database() AND wait_event = 'PgSleep'`,
        ),
      { what: "the migration to reach its middle" },
    );
    expect(await running).toBe("killed");
    await victim.end();
    await until(
      async () =>
        (await bench.value(
          "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'victim' AND datname = current_database()",
        )) === 0,
      { what: "the end of the killed backend" },
    );
    expect((await appliedMigrations(bench.db)).map((one) => one.number)).toEqual(
      migrations.map((one) => one.number).filter((other) => other < number),
    );
    await expect(checkSchema(bench.db)).rejects.toMatchObject({ code: "E_STORE_NOT_MIGRATED" });
    await bench.db.query("DROP EVENT TRIGGER stop");
    await migrate(bench.db);
    await checkSchema(bench.db);
    expect(await schemaDrift(bench.db)).toEqual({ missing: [], unexpected: [] });
  },
);

test("a migration that waits for a reader of a table holds up nobody who comes after", async () => {
  const bench = await Bench.open({ migrated: false });
  await bench.db.query(
    `CREATE SCHEMA escapement;
     CREATE TABLE escapement.migration (number integer PRIMARY KEY, name text, kind text, digest text,
       applied_at timestamptz DEFAULT clock_timestamp(), applied_by text DEFAULT current_user)`,
  );
  // All but the last that changes a table which leases are in.
  for (const migration of migrations.filter(({ number }) => number < 6)) {
    const { number, name, kind, sql } = migration;
    await bench.db.query(sql);
    await bench.db.query(
      "INSERT INTO escapement.migration (number, name, kind, digest) VALUES ($1, $2, $3, $4)",
      [number, name, kind, migrationDigest(migration)],
    );
  }
  const waits = () =>
    bench.value<boolean>(
      `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'escapement.executor'::regclass AND NOT granted
         AND mode = 'AccessExclusiveLock')`,
    );
  let running: Promise<unknown> | undefined;
  await bench.db.transaction(async (reader) => {
    await reader.query(
      "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1 FROM escapement.executor",
    );
    running = migrate(bench.db);
    await until(waits, { what: "the migration to wait for the reader" });
    await bench.db.transaction(async (tx) => {
      await tx.query("SET LOCAL lock_timeout = '5s'");
      await tx.query("UPDATE escapement.executor SET lease_until = clock_timestamp()");
    });
  });
  await running;
  await checkSchema(bench.db);
});

test("partitions asked for by many at once are made once", async () => {
  const bench = await Bench.open();
  const made = await Promise.all(
    Array.from({ length: 8 }, () =>
      bench.value<number>("SELECT escapement.ensure_partitions('2031-01-15', '2031-03-01T00:00:00Z')"),
    ),
  );
  expect(made.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 12]);
});

test("a store that was never set up, and one that lacks a migration, are refused", async () => {
  const empty = await Bench.open({ migrated: false });
  await expect(checkSchema(empty.db)).rejects.toMatchObject({ code: "E_STORE_NOT_MIGRATED" });
  const bench = await Bench.open();
  await bench.db.query(
    "DELETE FROM escapement.migration WHERE number = (SELECT max(number) FROM escapement.migration)",
  );
  await expect(checkSchema(bench.db)).rejects.toMatchObject({ code: "E_STORE_NOT_MIGRATED" });
});

test("an edited migration is drift, for the check and for the next run", async () => {
  const bench = await Bench.open();
  await bench.db.query("UPDATE escapement.migration SET digest = 'other' WHERE number = 2");
  await expect(checkSchema(bench.db)).rejects.toMatchObject({ code: "E_STORE_DRIFTED" });
  await expect(migrate(bench.db)).rejects.toMatchObject({ code: "E_STORE_DRIFTED" });
});

test("a newer schema is accepted while it only added, and refused when it took away", async () => {
  const bench = await Bench.open();
  const add = (number: number, kind: string) =>
    bench.db.query(
      "INSERT INTO escapement.migration (number, name, kind, digest) VALUES ($1, 'later', $2, 'x')",
      [number, kind],
    );
  await add(migrations.length + 1, "expand");
  await checkSchema(bench.db);
  await add(migrations.length + 2, "contract");
  await expect(checkSchema(bench.db)).rejects.toMatchObject({ code: "E_STORE_TOO_NEW" });
});

test("an old PostgreSQL is named before anything is touched", async () => {
  const asked: string[] = [];
  const old = {
    query: async (text: string) => {
      asked.push(text);
      return { rows: [{ number: "140011", text: "14.11" }], rowCount: 1 };
    },
  } as unknown as Database & Queryable;
  await expect(migrate(old)).rejects.toMatchObject({
    code: "E_STORE_VERSION",
    message: expect.stringContaining("14.11"),
  });
  expect(asked).toHaveLength(1);
});

test.each([
  ["a dropped index", "DROP INDEX escapement.shard_live_owner", "missing", /shard_live_owner/],
  ["an added column", "ALTER TABLE escapement.job ADD COLUMN note text", "unexpected", /job\.note text/],
  [
    "a changed function",
    "CREATE OR REPLACE FUNCTION escapement.shard_of(p_key text, p_count integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT 0'",
    "unexpected",
    /shard_of/,
  ],
  [
    "a lost constraint",
    "ALTER TABLE escapement.job_period DROP CONSTRAINT job_period_pkey",
    "missing",
    /job_period/,
  ],
  [
    "a trigger",
    "CREATE TRIGGER t BEFORE UPDATE ON escapement.job FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "unexpected",
    /trigger/,
  ],
] as const)("drift is reported: %s", async (_what, statement, where, line) => {
  const bench = await Bench.open();
  expect(await schemaDrift(bench.db)).toEqual({ missing: [], unexpected: [] });
  await bench.db.query(statement);
  expect((await schemaDrift(bench.db))[where].join("\n")).toMatch(line);
});

test("store status exits 0 when all is well, 1 with the differences when the schema drifted", async () => {
  const bench = await Bench.open();
  const fine = await runEscapement(["store", "status", "--url", bench.url, "--json"]);
  expect(fine, fine.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(fine.stdout).drift).toEqual({ missing: [], unexpected: [] });
  await bench.db.query("DROP INDEX escapement.execution_live_due");
  const drifted = await runEscapement(["store", "status", "--url", bench.url]);
  expect(drifted.code).toBe(1);
  expect(drifted.stdout).toMatch(/missing.*execution_live_due/);
});
