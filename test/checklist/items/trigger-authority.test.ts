/** Item 2: one place fires, by the records. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import { triggerAuthority } from "../../../src/checklist/items/02-trigger-authority.ts";
import { triggerScript } from "../../../src/checklist/items/other-triggers.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { goodHosts, keyOf, quietTriggers, sectionText } from "../fake-host.ts";
import { contextOf, definitionsOf, fillStore } from "../good-cluster.ts";

let fresh: FreshDatabase;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 3 });
  await fillStore(db);
});

afterAll(async () => {
  await db.end();
  await fresh.drop();
});

const context = (change: Partial<CheckContext> = {}) =>
  contextOf(db, { definitions: definitionsOf("/nowhere"), hosts: goodHosts(), ...change });

async function verdicts(of = context()): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await triggerAuthority.check(of)).map(({ scope, verdict }) => [scope.name, verdict]),
  );
}

const all = {
  payments: "pass",
  "db-1": "pass",
  "sched-1": "pass",
  "sched-2": "pass",
  "exec-1": "pass",
  "exec-2": "pass",
  "watch-1": "pass",
};

describe("item 2 in the store", () => {
  it("passes", async () => {
    expect(await verdicts()).toEqual(all);
  });

  it.each([
    [
      "the lease has ended",
      "UPDATE escapement.leader SET expires_at = clock_timestamp() - interval '1 minute'",
      /nobody holds the lease/,
    ],
    [
      "a stranger leads",
      "UPDATE escapement.leader SET holder = gen_random_uuid()",
      /not among the schedulers that live/,
    ],
    [
      "one scheduler is silent",
      "UPDATE escapement.scheduler SET last_seen = clock_timestamp() - interval '5 minutes' WHERE node = 'scheduler-2'",
      /1 scheduler\(s\) on 1 host/,
    ],
    [
      "both are on one host",
      "UPDATE escapement.scheduler SET host = 'sched-1'",
      /2 scheduler\(s\) on 1 host/,
    ],
    [
      "two processes have one name",
      "UPDATE escapement.scheduler SET node = 'scheduler-1'",
      /scheduler-1 runs twice/,
    ],
    [
      "a replaced leader has planned",
      "UPDATE escapement.execution SET epoch = 2 WHERE fire_time < clock_timestamp() - interval '10 days'",
      /planned by a leader that had been replaced/,
    ],
    [
      "the fence lets everybody pass",
      "CREATE OR REPLACE FUNCTION escapement.leader_fence(p_holder uuid, p_epoch bigint) RETURNS void LANGUAGE sql AS 'SELECT'",
      /somebody who does not lead could plan/,
    ],
    [
      "there are two leader rows",
      "ALTER TABLE escapement.leader DROP CONSTRAINT leader_only_row_check; INSERT INTO escapement.leader (only_row) VALUES (false)",
      /has 2 rows/,
    ],
  ])("fails when %s", async (_, sql, message) => {
    // Kept in one transaction that is rolled back, so that the next case finds the cluster as it was.
    const found = await db
      .transaction(async (tx) => {
        await tx.query(sql);
        throw Object.assign(new Error("undo"), { found: await inTransaction(tx) });
      })
      .catch((error: { found?: { verdict: string; message: string } }) => error.found);
    expect(found?.message).toMatch(message);
    expect(found?.verdict).toBe("fail");
  });

  it.each([
    [
      "no execution was planned",
      "UPDATE escapement.execution SET epoch = NULL",
      /no execution was planned in the window/,
    ],
    [
      "an executor works on a host of no inventory",
      "UPDATE escapement.executor SET host = 'exec-9' WHERE node = 'executor-2'",
      /exec-9 runs executor-2, is in no inventory by that name, or could not be reached/,
    ],
  ])("is unknown when %s", async (_, sql, message) => {
    const found = await db
      .transaction(async (tx) => {
        await tx.query(sql);
        throw Object.assign(new Error("undo"), { found: await inTransaction(tx) });
      })
      .catch((error: { found?: { verdict: string; message: string } }) => error.found);
    expect(found?.message).toMatch(message);
    expect(found?.verdict).toBe("unknown");
  });

  it("knows a host by what it calls itself, too", async () => {
    const renamed = goodHosts().map((host) => (host.name === "exec-2" ? { ...host, name: "second" } : host));
    expect(await verdicts(context({ hosts: renamed }))).toMatchObject({ payments: "pass", second: "pass" });
  });

  it("is unknown of a host that shows no process", async () => {
    const blank = { [keyOf(triggerScript)]: sectionText({ ...quietTriggers("exec-1"), processes: "" }) };
    expect(await verdicts(context({ hosts: goodHosts({ "exec-1": blank }) }))).toEqual({
      ...all,
      "exec-1": "unknown",
    });
  });

  it("is unknown without a store, without hosts, and of a host that cannot be reached", async () => {
    const blind = await verdicts(
      contextOf("gone", { definitions: definitionsOf("/nowhere"), hosts: goodHosts() }),
    );
    expect(blind).toEqual({ ...all, payments: "unknown", "sched-1": "unknown", "sched-2": "unknown" });
    expect(await verdicts(context({ hosts: [] }))).toEqual({ payments: "unknown" });
    const script = keyOf(triggerScript);
    for (const answer of [new Error("no route to host"), "\u001ehostname\nexec-1\n"]) {
      const cut = context({ hosts: goodHosts({ "exec-1": { [script]: answer } }) });
      expect(await verdicts(cut)).toEqual({ ...all, "exec-1": "unknown" });
    }
    const unread = { [script]: sectionText({ ...quietTriggers("exec-1"), "unread /etc/cron.d/secret": "" }) };
    expect(await verdicts(context({ hosts: goodHosts({ "exec-1": unread }) }))).toEqual({
      ...all,
      "exec-1": "unknown",
    });
  });
});

/** The trial itself rolls back its statement; within a transaction that needs a savepoint. */
async function inTransaction(tx: { query: Database["query"] }) {
  const query: Database["query"] = async (text, values) => {
    await tx.query("SAVEPOINT s");
    try {
      return await tx.query(text, values);
    } catch (error) {
      await tx.query("ROLLBACK TO s");
      throw error;
    }
  };
  return (
    await triggerAuthority.check(
      contextOf({ query }, { definitions: definitionsOf("/nowhere"), hosts: goodHosts() }),
    )
  )[0];
}
