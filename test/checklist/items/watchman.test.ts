import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckedDefinitions } from "../../../src/checklist/context.ts";
import { watchman } from "../../../src/checklist/items/08-watchman.ts";
import type { WatchDefinition } from "../../../src/spec/watch-definition.ts";
import { until } from "../../support/until.ts";
import { type Answers, goodHosts, heartbeatMetric, metricsKey, sectionText } from "../fake-host.ts";
import { goodDomains, goodWatch, inventoryOf } from "../good-files.ts";
import { type Change, changed, context, db, fresh, resultOf } from "../item-scene.ts";
import { openSessions, type Sessions } from "../sessions.ts";

let sessions: Sessions;
beforeAll(async () => {
  sessions = await openSessions(fresh.url, db);
});
afterAll(() => sessions.end());

const inventoryWith = (domains: Record<string, string>): Partial<CheckedDefinitions> => ({
  inventory: { definition: inventoryOf({ ...goodDomains, ...domains }), file: "inventory.yaml", line: 1 },
});
const onHost = (name: string, answers: Answers) => ({ hosts: goodHosts({ [name]: answers }) });

describe("item 8", () => {
  it("passes", async () => {
    const found = await resultOf(watchman, "payments");
    expect(found, found.message).toMatchObject({ verdict: "pass" });
    expect(new Set(found.evidence.map(({ kind }) => kind))).toEqual(new Set(["query", "file", "command"]));
  });

  it("shows how old the test alert is that no channel has had a later one than", async () => {
    const later =
      "UPDATE escapement.alert_delivery SET accepted_at = clock_timestamp() WHERE channel = 'mail'";
    const { evidence } = await changed(watchman, later);
    const aged = evidence.filter(({ fact }) => fact !== undefined);
    expect(aged).toMatchObject([{ kind: "query", fact: "testAlert" }]);
    expect(aged[0]!.ageMs! / 86_400_000).toBeCloseTo(2, 1);
  });

  it.each([
    ["there is none", "DELETE FROM escapement.watchman", /no watchman ever made a pass/],
    [
      "it was stopped, however lately it has looked",
      "UPDATE escapement.watchman SET pid = 0",
      /watchman watchman was stopped/,
    ],
    [
      "it is silent",
      "UPDATE escapement.watchman SET last_pass_at = clock_timestamp() - interval '10 minutes'",
      /last pass 10m/,
    ],
    [
      "it runs beside a scheduler",
      "UPDATE escapement.watchman SET host = 'sched-2'",
      /on sched-2, beside scheduler-2/,
    ],
    ["it runs beside an executor", "UPDATE escapement.watchman SET host = 'exec-1'", /beside executor-1/],
    [
      "a channel never accepted a test",
      "DELETE FROM escapement.alert_delivery WHERE channel = 'mail'",
      /mail never accepted a test alert/,
    ],
    [
      "the last test is old",
      "UPDATE escapement.alert_delivery SET accepted_at = accepted_at - interval '9 days'",
      /pager accepted its last test alert 11.0 days ago/,
    ],
    [
      "the last test was refused",
      "INSERT INTO escapement.alert_delivery (message_id, channel, alert_key, message, state, last_error) VALUES ('test-2', 'pager', 'test-alert:x', '{}', 'failed', 'HTTP 500')",
      /pager did not accept the last test alert: HTTP 500/,
    ],
  ])("fails when %s", async (_, sql, message) => {
    expect(await changed(watchman, sql)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(message),
      todo: expect.any(String),
    });
  });

  it("does not mind an executor beside it that takes nothing but drills", async () => {
    const beside = `INSERT INTO escapement.executor SELECT (jsonb_populate_record(x, to_jsonb(x) || jsonb_build_object('incarnation', gen_random_uuid(),
        'node', 'watch-1', 'host', 'watch-1', 'cpu_slots', 0, 'memory_slots', 0, 'io_slots', 0, 'control_slots', 1))).*
      FROM escapement.executor x WHERE node = 'executor-1'`;
    const drills = await changed(watchman, beside);
    expect(drills, drills.message).toMatchObject({ verdict: "pass" });
    await sessions.open(sessions.logins.watchman, "escapement-executor watch-1");
    try {
      const shared = await changed(watchman, beside);
      expect(shared, shared.message).toMatchObject({ verdict: "pass" });
      expect(await resultOf(watchman, "payments")).toMatchObject({
        verdict: "fail",
        message: expect.stringMatching(/shares the login/),
      });
    } finally {
      await sessions.close("escapement-executor watch-1");
    }
  });

  it.each([
    [
      "is lost with a scheduler",
      inventoryWith({ "watch-1": "room-2" }),
      "fail",
      /lost together with sched-2/,
    ],
    [
      "is lost with the store",
      inventoryWith({ "sched-1": "room-9", "watch-1": "room-1" }),
      "fail",
      /lost together with db-1/,
    ],
    [
      "is in no inventory",
      { inventory: { definition: inventoryOf({ "sched-1": "a" }), file: "i.yaml", line: 1 } },
      "unknown",
      /not in the inventory/,
    ],
    [
      "is in an inventory without domains",
      inventoryWith(Object.fromEntries(Object.keys(goodDomains).map((name) => [name, name]))),
      "unknown",
      /no host of the inventory has a failure domain/,
    ],
    [
      "calls nobody",
      {
        watch: {
          definition: (({ heartbeat: _, ...rest }) => rest)(goodWatch) as WatchDefinition,
          file: "w",
          line: 1,
        },
      },
      "fail",
      /own death/,
    ],
  ])("the watchman %s", async (_, definitions, verdict, message) => {
    expect(await resultOf(watchman, "payments", context({ definitions }))).toMatchObject({
      verdict,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ["is late", sectionText({ metrics: heartbeatMetric(400) }), "fail", /answered 6m40s ago/],
    [
      "never came",
      sectionText({ metrics: "# HELP escapement_watchman_heartbeat_seconds x\n" }),
      "fail",
      /never answered/,
    ],
    ["cannot be seen", sectionText({ metrics: "", unread: "" }), "unknown", /do not show a heartbeat/],
    ["is on a host that cannot be reached", new Error("no route"), "unknown", /no route/],
  ])("its heartbeat %s", async (_, answer, verdict, message) => {
    const of = context(onHost("watch-1", { [metricsKey]: answer }));
    expect(await resultOf(watchman, "payments", of)).toMatchObject({
      verdict,
      message: expect.stringMatching(message),
    });
  });

  it("fails when it works under the login of an executor, or a mighty one; is unknown when none can be seen", async () => {
    await sessions.close("escapement-watchman watchman-1");
    await until(async () => (await resultOf(watchman, "payments")).verdict === "unknown", {
      what: "the session to be gone",
    });
    for (const [login, message] of [
      [sessions.logins.executor, /shares the login/],
      ["postgres", /may do a scheduler's work/],
    ] as const) {
      await sessions.open(login, "escapement-watchman watchman-1");
      expect(await resultOf(watchman, "payments")).toMatchObject({
        verdict: "fail",
        message: expect.stringMatching(message),
      });
      await sessions.close("escapement-watchman watchman-1");
      await until(async () => (await resultOf(watchman, "payments")).verdict === "unknown", {
        what: "the session to be gone",
      });
    }
    await sessions.open(sessions.logins.watchman, "escapement-watchman watchman-1");
    expect(await resultOf(watchman, "payments")).toMatchObject({ verdict: "pass" });
  });

  it("is unknown while there is no other login to compare its own with", async () => {
    const others = ["scheduler", "executor"] as const;
    for (const part of others) await sessions.close(`escapement-${part} ${part}-1`);
    const seen = async () => (await resultOf(watchman, "payments")).message;
    await until(async () => /no session of a scheduler or executor/.test(await seen()), {
      what: "the sessions to be gone",
    });
    expect(await resultOf(watchman, "payments")).toMatchObject({ verdict: "unknown" });
    for (const part of others) await sessions.open(sessions.logins[part], `escapement-${part} ${part}-1`);
    expect(await resultOf(watchman, "payments")).toMatchObject({ verdict: "pass" });
  });

  it("is unknown without a store, without a watch file, without an inventory", async () => {
    for (const change of [
      { store: "gone" },
      { definitions: { watch: undefined } },
      { definitions: { inventory: undefined } },
      { hosts: [] },
    ])
      expect(await resultOf(watchman, "payments", context(change as Change))).toMatchObject({
        verdict: "unknown",
      });
  });
});
