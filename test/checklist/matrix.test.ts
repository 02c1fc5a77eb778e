/**
 * One good cluster, one thing broken at a time: the item whose question that is
 * answers otherwise, every other one as before. And each source of evidence cut
 * off in turn: what nobody can see is unknown, and nothing of it passes.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext, CheckedDefinitions, HostProbe } from "../../src/checklist/context.ts";
import type { Verdict } from "../../src/checklist/item.ts";
import { checklistItems } from "../../src/checklist/items/all.ts";
import { clockCommand } from "../../src/checklist/items/host-clock.ts";
import { triggerScript } from "../../src/checklist/items/other-triggers.ts";
import { timeScript } from "../../src/checklist/items/time-service.ts";
import { metricsScript } from "../../src/checklist/items/watchman-heartbeat.ts";
import type { Queryable } from "../../src/store/database.ts";
import { goodHosts, goodTime, keyOf, quietTriggers, sectionText } from "./fake-host.ts";
import { contextOf, definitionsOf } from "./good-cluster.ts";
import { storeFaults } from "./planted-faults.ts";
import { savepoints } from "./savepoints.ts";
import { type WholeCluster, wholeCluster } from "./whole-cluster.ts";

let cluster: WholeCluster;

beforeAll(async () => {
  cluster = await wholeCluster();
});

afterAll(() => cluster?.end());

interface Change {
  readonly store?: Queryable | string;
  readonly definitions?: Partial<CheckedDefinitions>;
  readonly hosts?: readonly HostProbe[];
}

function context({ store = cluster.db, definitions = {}, hosts = goodHosts() }: Change = {}): CheckContext {
  return contextOf(store, { definitions: { ...definitionsOf(cluster.files.root), ...definitions }, hosts });
}

const rank: Readonly<Record<Verdict, number>> = { "not-applicable": 0, pass: 1, unknown: 2, fail: 3 };

/** The worst verdict of every item. */
async function verdicts(of: CheckContext): Promise<Record<number, Verdict>> {
  const found: Record<number, Verdict> = {};
  for (const item of checklistItems) {
    const results = await item.check(of).catch(() => []);
    const worst = results.map(({ verdict }) => verdict).sort((a, b) => rank[b] - rank[a])[0];
    found[item.number] = worst ?? "unknown";
  }
  return found;
}

const allPass = Object.fromEntries(Array.from({ length: 15 }, (_, number) => [number, "pass"]));

/** All verdicts with something changed in the store, in a transaction that is rolled back. */
async function after(sql: string): Promise<Record<number, Verdict>> {
  const undo = new Error("undo");
  let found: Record<number, Verdict> = {};
  await cluster.db
    .transaction(async (tx) => {
      await tx.query("SET LOCAL idle_in_transaction_session_timeout = 0");
      await tx.query(sql);
      found = await verdicts(context({ store: savepoints(tx) }));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found;
}

describe("the whole checklist", () => {
  it("has fifteen items, in order, each with its texts", () => {
    expect(checklistItems.map(({ number }) => number)).toEqual(Array.from({ length: 15 }, (_, n) => n));
    expect(new Set(checklistItems.map(({ id }) => id)).size).toBe(15);
    for (const { question, why, how } of checklistItems) {
      expect(question).toMatch(/\?$/);
      expect(why.split(/\.\s/).length).toBeLessThanOrEqual(3);
      expect(how.length).toBeGreaterThan(40);
    }
  });

  it("passes on a good cluster, and every pass has evidence", async () => {
    for (const item of checklistItems) {
      for (const one of await item.check(context())) {
        if (one.verdict === "not-applicable") continue;
        expect(one, `item ${item.number}: ${one.message}`).toMatchObject({ verdict: "pass" });
        expect(one.evidence.length, `item ${item.number}, ${one.scope.name}`).toBeGreaterThan(0);
        for (const { what, output, at } of one.evidence) {
          expect(what).not.toBe("");
          expect(output.length).toBeLessThanOrEqual(4_000);
          expect(at).toMatch(/^\d{4}-\d{2}-\d{2}T.*Z$/);
        }
      }
    }
  });
});

describe("one thing broken in the store", () => {
  it.each(storeFaults)("item %i alone says that %s", async (number, _, sql) => {
    expect(await after(sql)).toEqual({ ...allPass, [number]: "fail" });
  });
});

describe("one thing broken outside the store", () => {
  const on = (host: string, argv: readonly string[], text: string): Change => ({
    hosts: goodHosts({ [host]: { [keyOf(argv)]: text } }),
  });
  const problem = (path: string) => ({
    file: "jobs/x.yaml",
    line: 2,
    column: 1,
    path,
    message: "is missing",
  });

  it.each<[number, string, () => Change]>([
    [
      2,
      "a crontab starts a job",
      () =>
        on(
          "exec-1",
          triggerScript,
          sectionText(
            quietTriggers("exec-1", { "crontab /etc/cron.d/x": "* * * * * root /opt/pay/report.sh" }),
          ),
        ),
    ],
    [3, "a file has no blocking policy", () => ({ definitions: { problems: [problem("spec.blocking")] } })],
    [4, "a file has no misfire policy", () => ({ definitions: { problems: [problem("spec.misfire")] } })],
    [5, "a file has no cap", () => ({ definitions: { problems: [problem("spec.catchUp")] } })],
    [
      9,
      "a host has another zone",
      () => on("exec-1", timeScript, sectionText(goodTime({ zone: "/usr/share/zoneinfo/Asia/Tokyo" }))),
    ],
    [
      10,
      "a clock is a minute fast",
      () => on("exec-1", clockCommand, `${Date.now() / 1_000 + 60}.0`.replace(/(\.\d+)\.0$/, "$1\n")),
    ],
  ])("item %i alone says that %s", async (number, _, change) => {
    expect(await verdicts(context(change()))).toEqual({ ...allPass, [number]: "fail" });
  });
});

describe("a source of evidence is cut off", () => {
  it("no store: everything is unknown, and nothing passes for good", async () => {
    const found = await verdicts(context({ store: "no route to host" }));
    expect(found).toEqual(Object.fromEntries(Object.keys(allPass).map((number) => [number, "unknown"])));
  });

  it("no job files", async () => {
    const found = await verdicts(context({ definitions: { jobs: [], allJobs: [] } }));
    // Without any file an active job is one that no file describes: item 3 says so, and fails.
    expect(found).toEqual({
      ...allPass,
      2: "unknown",
      3: "fail",
      4: "unknown",
      5: "unknown",
      6: "unknown",
      9: "unknown",
      14: "unknown",
    });
  });

  it.each<[string, readonly number[], () => Change]>([
    ["no hosts", [2, 8, 9, 10], () => ({ hosts: [] })],
    ["one host that cannot be reached", [2, 9, 10], () => ({ hosts: goodHosts({ "exec-2": lost() }) })],
    [
      "the watchman's host cannot be reached",
      [2, 8, 9, 10],
      () => ({ hosts: goodHosts({ "watch-1": lost() }) }),
    ],
    [
      "hosts are containers",
      [9],
      () => ({ hosts: goodHosts().map((host) => ({ ...host, container: "systemd-nspawn" })) }),
    ],
    ["no cluster file", [5, 7], () => without("cluster")],
    ["no inventory", [8], () => without("inventory")],
    ["no watch file", [8, 10], () => without("watch")],
  ])("%s: %j are unknown", async (_, numbers, change) => {
    const found = await verdicts(context(change()));
    expect(found).toEqual({
      ...allPass,
      ...Object.fromEntries(numbers.map((number) => [number, "unknown"])),
    });
  });

  it("a login that may only read: what has to be tried is unknown", async () => {
    const found = await verdicts(context({ store: cluster.onlooker }));
    expect(found).toEqual({
      ...allPass,
      0: "unknown",
      1: "unknown",
      2: "unknown",
      5: "unknown",
      7: "unknown",
    });
  });

  it("a login of schedulers and executors: only replication is unknown; with pg_read_all_stats all pass", async () => {
    await cluster.db.query("GRANT escapement_scheduler, escapement_executor TO onlooker");
    expect(await verdicts(context({ store: cluster.onlooker }))).toEqual({ ...allPass, 0: "unknown" });
    await cluster.db.query("GRANT pg_read_all_stats TO onlooker");
    expect(await verdicts(context({ store: cluster.onlooker }))).toEqual(allPass);
  });

  const lost = () =>
    Object.fromEntries(
      [triggerScript, timeScript, clockCommand, metricsScript(7075)].map((argv) => [
        keyOf(argv),
        new Error("no route to host"),
      ]),
    );

  function without(part: "cluster" | "inventory" | "watch"): Change {
    return { definitions: { [part]: undefined } as unknown as Partial<CheckedDefinitions> };
  }
});
