/** Item 2: one place fires, and nothing else on any host does. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import { triggerAuthority } from "../../../src/checklist/items/02-trigger-authority.ts";
import { gatherSections } from "../../../src/checklist/items/host-sections.ts";
import {
  schedulersOf,
  startsJob,
  triggerScript,
  triggersOf,
} from "../../../src/checklist/items/other-triggers.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { type Answers, fakeHost, goodHosts, keyOf, quietTriggers, sectionText } from "../fake-host.ts";
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

async function resultOf(name: string, of: CheckContext) {
  return (await triggerAuthority.check(of)).find(({ scope }) => scope.name === name)!;
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

describe("item 2 on hosts", () => {
  const with_ = (sections: Record<string, string>): Record<string, Answers> => ({
    "exec-2": { [keyOf(triggerScript)]: sectionText(quietTriggers("exec-2", sections)) },
  });

  it.each([
    [
      "a crontab",
      { "crontab /etc/cron.d/pay": "0 2 * * * pay node /opt/pay/bonus.mjs >/dev/null" },
      /crontab \/etc\/cron.d\/pay starts pay\/bonus/,
    ],
    [
      "a crontab of a user, from the job's folder",
      { "crontab /var/spool/cron/crontabs/pay": "0 2 * * * cd /opt/pay && ./report.sh" },
      /starts pay\/report/,
    ],
    [
      "a script of cron.daily",
      { "script /etc/cron.daily/pay": "#!/bin/sh\nexec /opt/pay/report.sh" },
      /starts pay\/report/,
    ],
    ["at", { "at 7": "cd /root\n/opt/pay/by-hand.sh" }, /at 7 starts pay\/by-hand/],
    [
      "a timer",
      {
        timers: "Id=pay.timer\nUnit=pay.service\nActiveState=active\n",
        services:
          "Id=pay.service\nExecStart={ path=/usr/bin/node ; argv[]=/usr/bin/node /opt/pay/bonus.mjs ; }\n",
      },
      /timer pay.timer starts pay\/bonus/,
    ],
    [
      "our own command",
      { "crontab /etc/cron.d/pay": "0 2 * * * root escapement run pay/bonus --reason cron" },
      /starts pay\/bonus/,
    ],
    [
      "a scheduler of another cluster whose Node has options",
      {
        processes: "78 /usr/bin/node --max-old-space-size=99 /opt/other/escapement.mjs scheduler --cluster x",
      },
      /process 78 is a scheduler that is not in these records/,
    ],
    [
      "a scheduler of another cluster",
      { processes: "77 node /opt/other/escapement.mjs scheduler --cluster other.yaml" },
      /process 77 is a scheduler that is not in these records/,
    ],
  ])("fails on that host when there is %s", async (_, sections, message) => {
    const changed = context({ hosts: goodHosts(with_(sections)) });
    expect(await verdicts(changed)).toEqual({ ...all, "exec-2": "fail" });
    expect((await resultOf("exec-2", changed)).message).toMatch(message);
  });

  it.each([
    [
      "a line that is commented out",
      { "crontab /etc/cron.d/pay": "# 0 2 * * * pay node /opt/pay/bonus.mjs" },
    ],
    [
      "a timer that does not run",
      {
        timers: "Id=pay.timer\nUnit=pay.service\nActiveState=inactive\n",
        services: "Id=pay.service\nExecStart={ argv[]=node /opt/pay/bonus.mjs ; }\n",
      },
    ],
  ])("passes with a remark when there is %s", async (_, sections) => {
    const found = await resultOf("exec-2", context({ hosts: goodHosts(with_(sections)) }));
    expect(found).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/switched off: .*pay\/bonus/),
    });
  });

  it("the script runs on a real machine, and its answer is whole", async () => {
    const real = fakeHost("here", [], {
      [keyOf(triggerScript)]: execFileSync(triggerScript[0]!, triggerScript.slice(1), {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        maxBuffer: 1 << 26,
      }),
    });
    const { sections } = await gatherSections(real, triggerScript);
    expect(sections.map(({ title }) => title)).toEqual(expect.arrayContaining(["hostname", "processes"]));
    expect(sections.find(({ title }) => title === "processes")!.text).toMatch(
      new RegExp(`^${process.pid} `, "m"),
    );
    expect(Array.isArray(triggersOf(sections)) && Array.isArray(schedulersOf(sections))).toBe(true);
  });
});

describe("the same command", () => {
  const job = (...command: string[]) => ({ namespace: "default", name: "nightly", command });
  it.each([
    ["0 2 * * * /usr/bin/settle", job("settle"), false],
    ["0 2 * * * root settle --all", job("settle"), true],
    ["0 2 * * * sh -c 'psql -f x.sql | tee log'", job("sh", "-c", "psql -f x.sql | tee log"), true],
    ["0 2 * * * node other.mjs", job("node", "settle.mjs"), false],
    ["0 2 * * * node settle.mjs", job("node", "settle.mjs"), true],
    ["0 2 * * * /opt/b/my-bonus.sh", job("/opt/a/bonus.sh"), false],
    ["0 2 * * * /opt/b/bonus.sh", job("/opt/a/bonus.sh"), false],
    ["0 2 * * * cd /opt/a; ./bonus.sh", job("/opt/a/bonus.sh"), true],
    ["0 2 * * * java -jar /srv/pay.jar", job("java", "-Xmx1g", "-jar", "/srv/pay.jar"), true],
    ["0 2 * * * true", job("true"), false],
    ["0 2 * * * escapement once --job nightly -- x", job("true"), true],
    ["0 2 * * * escapement status # nightly", job("true"), false],
  ])("%s", (line, definition, expected) => {
    expect(startsJob(line, definition)).toBe(expected);
  });
});
