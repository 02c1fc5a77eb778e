/** Item 0 with a standby that is named by its URL: a real one, that streams, stops and goes its own way. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { StandbyProbe } from "../../../src/checklist/context.ts";
import { recordStore } from "../../../src/checklist/items/00-record-store.ts";
import { openStandby, standbyVariable } from "../../../src/cli/checklist/standby.ts";
import { type PostgresServer, startPostgres } from "../../../src/lab/postgres.ts";
import { Database, type Queryable } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { until } from "../../support/until.ts";
import { contextOf, definitionsOf, fillStore } from "../good-cluster.ts";
import { startStandby } from "../standby.ts";

let primary: PostgresServer;
let standby: PostgresServer;
let db: Database;
let copy: Database;

beforeAll(async () => {
  primary = await startPostgres({ settings: { fsync: "off" } });
  db = new Database(primary.url, { maxConnections: 3 });
  await migrate(db);
  await fillStore(db);
  await db.query("CREATE ROLE onlooker LOGIN IN ROLE escapement_reader");
  standby = await startStandby(primary);
  copy = new Database(standby.url, { maxConnections: 1 });
  await until(async () => (await verdict()).verdict === "pass", { what: "the standby to follow" });
});

afterAll(async () => {
  await copy?.end();
  await db?.end();
  await standby?.remove();
  await primary?.remove();
});

async function verdict(probe: StandbyProbe = { state: "open", db: copy }, store: Queryable | string = db) {
  const [only, ...more] = await recordStore.check(
    contextOf(store, { definitions: definitionsOf("/nowhere"), standby: probe }),
  );
  expect(more).toEqual([]);
  return only!;
}

it("passes when the standby comes to where the store is; unknown on one machine for a login that may not see sessions", async () => {
  for (const [username, expected] of [
    [
      new URL(primary.url).username,
      { verdict: "pass", message: /^the standby at 127\.0\.0\.1 came to where the store was within/ },
    ],
    // On one machine, and this login could not see who else is there.
    ["onlooker", { verdict: "unknown", message: /this login may not see whether that is a lab/ }],
  ] as const) {
    const asking = new Database(Object.assign(new URL(primary.url), { username }).href, {
      maxConnections: 1,
    });
    const small = new Database(Object.assign(new URL(standby.url), { username: "onlooker" }).href, {
      maxConnections: 1,
    });
    try {
      const found = await verdict({ state: "open", db: small }, asking);
      expect(found, found.message).toMatchObject({
        verdict: expected.verdict,
        message: expect.stringMatching(expected.message),
      });
      if (expected.verdict === "pass")
        expect(found.evidence.map(({ what }) => what).join()).toMatch(/pg_last_wal_replay_lsn/);
    } finally {
      await asking.end();
      await small.end();
    }
  }
});

it("fails while it receives and does not replay", async () => {
  await copy.query("SELECT pg_wal_replay_pause()");
  await db.query("CREATE TABLE written_meanwhile AS SELECT 1 AS n");
  const found = await verdict();
  await copy.query("SELECT pg_wal_replay_resume()");
  expect(found).toMatchObject({
    verdict: "fail",
    message: expect.stringMatching(/^the standby has paused its replay/),
    todo: expect.any(String),
  });
  expect(await verdict()).toMatchObject({ verdict: "pass" });
});

it("fails for another server and for the store itself; is unknown when it cannot be reached", async () => {
  expect(await verdict({ state: "open", db })).toMatchObject({
    verdict: "fail",
    message: expect.stringMatching(/^the standby takes writes of its own/),
  });
  const stranger = await startPostgres({ settings: { fsync: "off" } });
  const other = new Database(stranger.url, { maxConnections: 1 });
  const foreign = await verdict({ state: "open", db: other });
  await other.end();
  await stranger.remove();
  expect(foreign).toMatchObject({
    verdict: "fail",
    message: expect.stringMatching(/^the standby is a copy of another server/),
  });
  const gone = await openStandby("postgres://nobody:hunter2@127.0.0.1:1/x");
  const blind = await verdict(gone.probe);
  await gone.end();
  // Though the store itself sees a follower: the one that was named was not looked at.
  expect(blind).toMatchObject({
    verdict: "unknown",
    message: expect.stringMatching(/the standby cannot be reached/),
  });
  expect(JSON.stringify(blind)).not.toContain("hunter2");
  expect(await verdict({ state: "open", db: copy }, "gone")).toMatchObject({ verdict: "unknown" });
});

it("is named by an option or a variable, which must be a URL of PostgreSQL", async () => {
  const none = await openStandby(undefined);
  expect(none.probe).toBeUndefined();
  await expect(openStandby("db-2")).rejects.toThrow(/--standby/);
  process.env[standbyVariable] = standby.url;
  try {
    const named = await openStandby(undefined);
    expect(await verdict(named.probe)).toMatchObject({ verdict: "pass" });
    await named.end();
  } finally {
    delete process.env[standbyVariable];
  }
});

it("fails once it stands still, and once it was promoted", async () => {
  const { limits, restore } = await stillStanding();
  expect(limits).toMatchObject({
    verdict: "fail",
    message: expect.stringMatching(/^the standby has replayed nothing for .*, and .* wait/),
  });
  await restore();
  await until(async () => (await verdict()).verdict === "pass", { what: "the standby to follow again" });
  await copy.query("SELECT pg_promote()");
  await until(async () => (await verdict()).verdict === "fail", { what: "the promotion" });
  expect(await verdict()).toMatchObject({ message: expect.stringMatching(/takes writes of its own/) });
});

/** Cut off from the store, with a limit that has passed already. */
async function stillStanding() {
  await copy.query("ALTER SYSTEM SET primary_conninfo = ''");
  await copy.query("SELECT pg_reload_conf()");
  await until(async () => (await db.query("SELECT 1 FROM pg_stat_replication")).rows.length === 0, {
    what: "the standby to be cut off",
  });
  await db.query("DROP TABLE IF EXISTS written_meanwhile; CREATE TABLE written_later AS SELECT 1 AS n");
  const definitions = definitionsOf("/nowhere");
  const watch = { ...definitions.watch!, definition: { ...definitions.watch!.definition } };
  Object.assign(watch.definition, { thresholds: { ...watch.definition.thresholds, replicaLag: 1 } });
  const [limits] = await recordStore.check(
    contextOf(db, { definitions: { ...definitions, watch }, standby: { state: "open", db: copy } }),
  );
  return {
    limits: limits!,
    restore: async () => {
      await copy.query("ALTER SYSTEM RESET primary_conninfo");
      await copy.query("SELECT pg_reload_conf()");
    },
  };
}
