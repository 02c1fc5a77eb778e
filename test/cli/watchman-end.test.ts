/** The end of a watchman beside a record store that takes its last statement and says nothing. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { startEscapement } from "../support/processes.ts";
import { until } from "../support/until.ts";

let fresh: FreshDatabase;
let db: Database;
let folder: string;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 2 });
  folder = mkdtempSync(join(tmpdir(), "watchman-end-"));
});
const limit = 180_000;
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db.end();
  await fresh.drop();
});

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), `apiVersion: escapement/v1\n${text}`);
  return join(folder, name);
}

async function start() {
  const cluster = write(
    "cluster.yaml",
    `kind: Cluster
metadata: { name: test }
spec:
  store: { urlEnv: ESCAPEMENT_STORE_URL }
  scheduler: { nodes: [{ name: s1, http: { address: 127.0.0.1, port: 7071 } }] }
  executor: { nodes: [{ name: e1, slots: { cpu: 1, memory: 1, io: 1 }, workDirectory: work }] }
  logs: { directory: logs }
`,
  );
  const watch = write(
    "watch.yaml",
    `kind: Watch
metadata: { name: test }
spec:
  spoolFile: spool
  channels: [{ name: ops, type: exec, command: ["true"] }]
  routes: [{ channels: [ops] }]
`,
  );
  const http = `127.0.0.1:${await freePort()}`;
  const args = ["watchman", "--cluster", cluster, "--watch", watch, "--node", "w1", "--http", http];
  // Without a time service of this machine to ask.
  const environment = { ESCAPEMENT_STORE_URL: fresh.url, PATH: folder };
  await db.query("DELETE FROM escapement.watchman");
  const watchman = await startEscapement(args, { environment });
  await watchman.seen(/watchman started/);
  await until(async () => (await db.query("SELECT FROM escapement.watchman")).rows.length === 1, {
    deadlineMs: 60_000,
    what: "the row of the watchman",
  });
  return watchman;
}

test("a store that answers is told of the end", { timeout: limit }, async () => {
  const watchman = await start();
  watchman.kill("SIGTERM");
  expect((await watchman.exited).code).toBe(0);
  expect(watchman.stdout()).toContain("watchman stopped");
  await until(
    async () => (await db.query("SELECT FROM escapement.watchman WHERE pid = 0")).rows.length === 1,
    {
      deadlineMs: 60_000,
      what: "the note of the end",
    },
  );
});

test("a store that does not answer the note does not hold up the end for the length of a query", {
  timeout: limit,
}, async () => {
  const watchman = await start();
  await db.query(
    `CREATE FUNCTION say_nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(120); RETURN NEW; END $$;
     CREATE TRIGGER say_nothing BEFORE UPDATE ON escapement.watchman FOR EACH ROW WHEN (NEW.pid = 0) EXECUTE FUNCTION say_nothing()`,
  );
  watchman.kill("SIGTERM");
  expect((await watchman.exited).code).toBe(0);
  expect(watchman.stdout()).toContain("was left behind");
});
