import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { type PostgresServer, startPostgres } from "../../src/lab/postgres.ts";
import { findPostgres, type PostgresBinaries } from "../../src/lab/postgres-binaries.ts";
import { unprivilegedUser } from "../../src/lab/unprivileged-user.ts";
import { Database } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { unavailable } from "../support/tier.ts";

// Machines of continuous integration are slow and shared; these limits only stop a hang.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const servers: PostgresServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.remove();
});

async function withSource<T>(source: string, work: () => Promise<T>): Promise<T> {
  const before = process.env.ESCAPEMENT_POSTGRES_SOURCE;
  process.env.ESCAPEMENT_POSTGRES_SOURCE = source;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.ESCAPEMENT_POSTGRES_SOURCE;
    else process.env.ESCAPEMENT_POSTGRES_SOURCE = before;
  }
}

function hasSource(source: PostgresBinaries["source"]): boolean {
  try {
    findPostgres(unprivilegedUser(), source);
    return true;
  } catch {
    return false;
  }
}

async function ask<T>(url: string, text: string): Promise<T> {
  const database = new Database(url, { maxConnections: 1 });
  try {
    const { rows } = await database.query(text);
    return rows[0]?.answer as T;
  } finally {
    await database.end();
  }
}

test("it listens on 127.0.0.1 only, keeps fsync on, and takes settings", async () => {
  const server = await startPostgres({
    settings: { max_connections: "17", "escapement.note": "it's a test" },
  });
  servers.push(server);
  expect(await ask(server.url, "SELECT current_setting('listen_addresses') AS answer")).toBe("127.0.0.1");
  expect(await ask(server.url, "SELECT current_setting('unix_socket_directories') AS answer")).toBe("");
  expect(await ask(server.url, "SELECT current_setting('fsync') AS answer")).toBe("on");
  expect(await ask(server.url, "SELECT current_setting('max_connections') AS answer")).toBe("17");
  expect(await ask(server.url, "SELECT current_setting('escapement.note') AS answer")).toBe("it's a test");
  expect(await ask(server.url, "SELECT rolsuper AS answer FROM pg_roles WHERE rolname = current_user")).toBe(
    true,
  );
  expect(statSync(server.data).mode & 0o777).toBe(0o700);
  if (process.getuid?.() === 0) expect(statSync(server.data).uid).not.toBe(0);
});

test("what was committed is still there after a fast stop, an immediate stop and a SIGKILL", async () => {
  const server = await startPostgres();
  servers.push(server);
  const url = await server.createDatabase("Kept data");
  await ask(url, "CREATE TABLE seen (n int)");
  const ends = [() => server.stop("fast"), () => server.stop("immediate"), () => server.kill()];
  const pids = new Set<number>();
  for (const [n, end] of ends.entries()) {
    await ask(url, `INSERT INTO seen VALUES (${n})`);
    pids.add(server.pid!);
    await end();
    expect(server.running).toBe(false);
    expect(server.pid).toBeUndefined();
    await expect(ask(url, "SELECT 1 AS answer")).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
    await server.start();
  }
  expect(pids.size).toBe(3);
  expect(await ask(url, "SELECT count(*)::int AS answer FROM seen")).toBe(3);
  const copy = await server.createDatabase("copy", "Kept data");
  expect(await ask(copy, "SELECT max(n) AS answer FROM seen")).toBe(2);
});

test("remove leaves nothing, and a folder of one's own can be used again", async () => {
  const parent = mkdtempSync(join(tmpdir(), "escapement-test-"));
  chmodSync(parent, 0o755);
  const directory = join(parent, "pg");
  const first = await startPostgres({ directory });
  servers.push(first);
  await first.createDatabase("again");
  await first.stop();
  const second = await startPostgres({ directory });
  servers.push(second);
  expect(await ask(second.urlOf("again"), "SELECT 1 AS answer")).toBe(1);
  await second.remove();
  expect(existsSync(directory)).toBe(false);
  rmSync(parent, { recursive: true });
});

describe.each([
  ["system", hasSource("system")],
  ["embedded", hasSource("embedded")],
] as const)("PostgreSQL, %s", (source, present) => {
  test.skipIf(unavailable(`PostgreSQL (${source})`, present))(
    "the record store can be migrated",
    async () => {
      const server = await withSource(source, () => startPostgres({ settings: { fsync: "off" } }));
      servers.push(server);
      expect(server.binaries.source).toBe(source);
      const database = new Database(await server.createDatabase("records"), { maxConnections: 2 });
      expect((await migrate(database)).version).toBeGreaterThan(0);
      await database.end();
      await server.remove();
    },
  );
});

test("a port that is taken is an error with the server's own words", async () => {
  const server = servers.find((one) => one.running)!;
  await expect(startPostgres({ port: server.port })).rejects.toMatchObject({
    code: "E_UNAVAILABLE",
    message: expect.stringMatching(/could not create any TCP\/IP sockets|did not start/),
  });
});

test("without server programs the error says how to get them", async () => {
  const empty = mkdtempSync(join(tmpdir(), "escapement-test-"));
  writeFileSync(join(empty, "postgres"), "#!/bin/sh\necho 'postgres (PostgreSQL) 14.2'\n", { mode: 0o755 });
  writeFileSync(join(empty, "initdb"), "", { mode: 0o755 });
  process.env.ESCAPEMENT_POSTGRES_BIN = empty;
  try {
    await expect(startPostgres()).rejects.toMatchObject({
      code: "E_PROGRAM_MISSING",
      hint: expect.stringContaining("npm run setup"),
    });
  } finally {
    delete process.env.ESCAPEMENT_POSTGRES_BIN;
    rmSync(empty, { recursive: true });
  }
});
