/** Item 7: leases, reclaim, and the limits of logins. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import { leases } from "../../../src/checklist/items/07-leases.ts";
import { limitProblems, settingValue } from "../../../src/checklist/items/login-limits.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";
import { contextOf, definitionsOf, fillStore } from "../good-cluster.ts";
import { goodCluster } from "../good-files.ts";
import { openSessions, type Sessions } from "../sessions.ts";

let fresh: FreshDatabase;
let db: Database;
let sessions: Sessions;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 3 });
  await fillStore(db);
  sessions = await openSessions(fresh.url, db);
});

afterAll(async () => {
  await sessions.end();
  await db.end();
  await fresh.drop();
});

const context = (change: Partial<CheckContext> = {}) =>
  contextOf(db, { definitions: definitionsOf("/nowhere"), ...change });

async function verdict(of = context()) {
  const [only, ...more] = await leases.check(of);
  expect(more).toEqual([]);
  return only!;
}

async function changed(sql: string, back: string) {
  await db.query(sql);
  try {
    return await verdict();
  } finally {
    await db.query(back);
  }
}

async function withFunction(name: string, change: (source: string) => string) {
  const { rows } = await db.query<{ source: string }>(
    `SELECT pg_get_functiondef('escapement.${name}'::regproc) AS source`,
  );
  const source = rows[0]!.source;
  expect(change(source)).not.toBe(source);
  return changed(change(source), source);
}

describe("item 7", () => {
  it("passes, and leaves nothing behind", async () => {
    const found = await verdict();
    expect(found, found.message).toMatchObject({ verdict: "pass" });
    expect(found.evidence.map(({ kind }) => kind)).toEqual([
      "query",
      "query",
      "computed",
      "query",
      "query",
      "query",
      "query",
    ]);
    const { rows } = await db.query(
      "SELECT (SELECT count(*) FROM escapement.shard_live) + (SELECT count(*) FROM escapement.stale_write) AS count",
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  it.each([
    [
      "executor_renew",
      /lease_until > clock_timestamp\(\) AND state/,
      "lease_until > now() AND state",
      /executor_renew asks now\(\).*had ended was renewed/,
    ],
    [
      "leader_renew",
      /expires_at > clock_timestamp\(\)/,
      "expires_at > current_timestamp",
      /leader_renew asks current_timestamp/i,
    ],
    [
      "claim",
      /lease_until > clock_timestamp\(\) AND state = 'active' FOR SHARE/,
      "true FOR SHARE",
      /without a lease could claim/,
    ],
    [
      "complete",
      /AND l\.owner = p_incarnation AND l\.fence_token = a\.token/,
      "AND l.owner = p_incarnation",
      /complete does not show fence_token.*an older fence token/,
    ],
    ["reap", /RETURN escapement\.release_shards\(p_incarnation\)/, "RETURN 1", /was not given back/],
    ["leader_acquire", /BEGIN\b/, "BEGIN\n  PERFORM 1;", /leader_acquire is not as the migrations made it/],
  ])("fails when %s decides otherwise", async (name, from, to, message) => {
    const found = await withFunction(name, (source) => source.replace(from, to));
    expect(found).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(message),
      todo: expect.any(String),
    });
  });

  it("fails when renewals are rare", async () => {
    const good = context();
    const executor = { ...goodCluster.executor, renewEveryMs: 8_000 };
    const cluster = { ...good.definitions.cluster!, definition: { ...goodCluster, executor } };
    const found = await verdict({ ...good, definitions: { ...good.definitions, cluster } });
    expect(found).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/^executor: two renewals/),
    });
  });

  it.each([
    ["idle_in_transaction_session_timeout", "0", /for ever/],
    ["idle_in_transaction_session_timeout", "1min", /keeps its locks for 60 s, the shortest lease is 15 s/],
    ["tcp_keepalives_idle", "60", /noticed after 75 s/],
    ["tcp_keepalives_count", "0", /operating system/],
  ])("fails when a login that is in use has %s %s", async (setting, value, message) => {
    const login = sessions.logins.executor;
    const usual: Record<string, string> = {
      idle_in_transaction_session_timeout: "4s",
      tcp_keepalives_idle: "5",
      tcp_keepalives_count: "3",
    };
    const found = await changed(
      `ALTER ROLE ${login} SET ${setting} = '${value}'`,
      `ALTER ROLE ${login} SET ${setting} = '${usual[setting]}'`,
    );
    expect(found).toMatchObject({ verdict: "fail", message: expect.stringMatching(message) });
    expect(found.message).toContain(login);
  });

  it("fails when somebody works under a login without limits, whatever the others have", async () => {
    await sessions.open("postgres", "escapement-executor stray");
    const found = await verdict();
    await sessions.close("escapement-executor stray");
    expect(found).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/postgres: a frozen client/),
    });
    await until(async () => (await verdict()).verdict === "pass", { what: "the stray session to be gone" });
  });

  it("fails when a lease is long overdue", async () => {
    const found = await changed(
      "UPDATE escapement.executor SET lease_until = clock_timestamp() - interval '10 minutes' WHERE node = 'executor-2'",
      "UPDATE escapement.executor SET lease_until = clock_timestamp() + interval '1 hour' WHERE node = 'executor-2'",
    );
    expect(found).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/lease of executor-2 ended 600 s ago/),
    });
  });

  it("is unknown when no session of an executor can be seen, and without a store", async () => {
    await sessions.close("escapement-executor executor-1");
    await until(async () => (await verdict()).verdict === "unknown", { what: "the session to be gone" });
    expect((await verdict()).message).toMatch(/sessions of executors cannot be seen/);
    await sessions.open(sessions.logins.executor, "escapement-executor executor-1");
    expect(await verdict(contextOf("gone", { definitions: definitionsOf("/nowhere") }))).toMatchObject({
      verdict: "unknown",
    });
  });

  it("is unknown when the login may not try", async () => {
    await sessions.open(sessions.logins.watchman, "escapement-watchman looks");
    const url = new URL(fresh.url);
    url.username = sessions.logins.watchman;
    const small = new Database(url.href, { maxConnections: 1 });
    try {
      const found = await verdict(contextOf(small, { definitions: definitionsOf("/nowhere") }));
      expect(found).toMatchObject({
        verdict: "unknown",
        message: expect.stringMatching(/permission denied/),
      });
    } finally {
      await small.end();
    }
  });
});

describe("settings of PostgreSQL", () => {
  it.each([
    ["4s", "ms", 4_000],
    ["4000", "ms", 4_000],
    ["'5'", "s", 5_000],
    ["1min", "ms", 60_000],
    ["3", null, 3],
    ["on", null, undefined],
  ])("%s in %s", (text, unit, expected) => {
    expect(settingValue(text, unit)).toBe(expected);
  });

  it("are unseen where only this session's own value is known", () => {
    const row = {
      part: "executor",
      login: "x",
      sessions: 1,
      setting: "tcp_keepalives_idle",
      own: null,
      server: null,
      unit: "s",
    } as const;
    expect(limitProblems([row], 15_000).unseen).toContain("tcp_keepalives_idle");
  });
});
