/** What the desk does besides: silences, escalation, grace, test alerts, the heartbeat, posting again, no secrets in logs. */
import { describe, expect, test } from "vitest";
import { MetricRegistry } from "../../src/base/prometheus.ts";
import { acknowledge } from "../../src/store/watch/alert-book.ts";
import { addSilence } from "../../src/store/watch/silence.ts";
import { addDeliveryMetrics } from "../../src/watchman/delivery-metrics.ts";
import { hasAlertmanager, startAlertmanager } from "../support/alertmanager.ts";
import { Receiver } from "../support/receiver.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { DeskRehearsal, finding, secret, told } from "./desk-rehearsal.ts";

test("a silence made by command holds until its end; an acknowledgement stops the escalation", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: boss, type: webhook, url: "URL/boss", secretFile: key }
  routes: [{ channels: [ops], escalateAfter: 2m, escalateTo: [boss] }]`,
  );
  const until = new Date(desk.now.getTime() + 300_000);
  await addSilence(desk.db, { match: { key: ["a*"] }, until, reason: "known", by: "sam" });
  await desk.passes(10, [finding("a1"), finding("b1")]);
  expect(told(receiver)).toEqual(["open b1"]);
  expect(told(receiver, "/boss")).toEqual(["escalated b1"]);
  await desk.pass([finding("a1"), finding("b1")]);
  expect(told(receiver)).toEqual(["open b1", "open a1"]);
  expect(await acknowledge(desk.db, "a1", "sam")).toBe(true);
  await desk.passes(20, [finding("a1"), finding("b1")]);
  expect(told(receiver, "/boss")).toEqual(["escalated b1"]);
});

test("a watchman that crashes and restarts all the time does not stay in its grace", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, "  startUpGrace: 2m");
  for (let i = 0; i < 4; i++) {
    await desk.pass([finding("a")]);
    await desk.restart();
  }
  expect(told(receiver)).toEqual([]);
  await desk.pass([finding("a")]);
  expect(told(receiver)).toEqual(["open a"]);
  // After a rest of an hour it is in its grace again.
  desk.now = new Date(desk.now.getTime() + 3_600_000);
  await desk.restart();
  await desk.passes(3, [finding("a"), finding("b")]);
  expect(told(receiver)).toEqual(["open a"]);
});

describe("test alerts", () => {
  // Monday 2026-07-06 09:00 in New York is 13:00Z.
  const spec = `  testAlert: { cron: "0 9 * * MON", zone: America/New_York, within: 10m }`;

  test("on its time it goes through every channel, once, also over a restart", async () => {
    const receiver = await Receiver.open();
    const desk = await DeskRehearsal.open(receiver, spec);
    desk.now = new Date("2026-07-06T12:58:00Z");
    for (let i = 0; i < 30; i++) {
      await desk.pass([]);
      if (i % 5 === 0) await desk.restart();
    }
    expect(told(receiver)).toEqual(["test test-alert:2026-07-06T13:00:00.000Z"]);
    desk.now = new Date("2026-07-13T13:00:00Z");
    await desk.passes(3, []);
    expect(told(receiver)).toHaveLength(2);
    expect(desk.desk.status.open).toEqual([]);
  });

  test("one that is not accepted in time is an alert to those who can be reached", async () => {
    const receiver = await Receiver.open();
    const desk = await DeskRehearsal.open(
      receiver,
      `${spec}
  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ channels: [pager] }]`,
    );
    receiver.answer = ({ path }) => ({ status: path === "/ops" ? 503 : 200 });
    desk.now = new Date("2026-07-06T13:00:00Z");
    await desk.passes(18, []);
    expect(told(receiver, "/pager")).toEqual(["test test-alert:2026-07-06T13:00:00.000Z"]);
    await desk.passes(10, []);
    expect(told(receiver, "/pager")).toContain("open test-alert-lost:ops");
  });
});

describe("heartbeat", () => {
  const spec = `  heartbeat: { url: "URL/beat", every: 1s }`;
  const beats = (receiver: Receiver) => receiver.asked.filter(({ path }) => path === "/beat").length;

  test("it beats while passes go on, with and without a store", async () => {
    const receiver = await Receiver.open();
    const desk = await DeskRehearsal.open(receiver, spec);
    await desk.pass([]);
    expect(beats(receiver)).toBe(1);
    await until(
      async () => {
        await desk.pass([], { away: true });
        return beats(receiver) === 2;
      },
      { what: "the second beat", everyMs: 100 },
    );
  });

  test("when nobody can be told it falls silent, so that somebody else speaks", async () => {
    const receiver = await Receiver.open();
    const desk = await DeskRehearsal.open(receiver, spec);
    receiver.answer = ({ path }) => ({ status: path === "/ops" ? 500 : 200 });
    await desk.passes(8, [finding("a")]);
    const before = beats(receiver);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await desk.passes(2, [finding("a")]);
    expect(beats(receiver)).toBe(before);
  });
});

test("the status says what waits for whom and how long, in store and spool, and when a test last arrived", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  testAlert: { cron: "0 0 * * *", zone: UTC, within: 10m }
  heartbeat: { url: "URL/beat", every: 1s }
  rules: { store-unreachable: { for: 0s } }`,
  );
  const ops = () => desk.desk.status.channels[0]!;
  await desk.passes(3, [finding("a")]);
  // The test of midnight and the alert: the store knew of them when the third pass began.
  expect(ops()).toMatchObject({ waiting: 0, oldestWaitingMs: null, refused: 0 });
  expect(ops().testAcceptedMs).toBeGreaterThan(0);
  expect(ops().testAcceptedMs).toBeLessThan(120_000);
  expect(desk.desk.status.heartbeatMs).toBeLessThan(60_000);
  receiver.answer = () => ({ status: 503 });
  const since = desk.now;
  await desk.passes(4, [finding("a"), finding("b")]);
  const waited = () => desk.now.getTime() - since.getTime() - 30_000;
  expect(ops()).toMatchObject({ waiting: 1, oldestWaitingMs: waited() });
  const gone = finding("store-unreachable", { rule: "store-unreachable", severity: "critical" });
  await desk.pass([gone], { away: true });
  expect(ops()).toMatchObject({ waiting: 2, oldestWaitingMs: waited() });
  expect(desk.desk.status.spooled).toBe(1);
  const registry = new MetricRegistry();
  addDeliveryMetrics(registry, () => desk.desk.status);
  const page = registry.render();
  expect(page).toContain('escapement_watchman_waiting_messages{channel="ops"} 2');
  expect(page).toContain(`escapement_watchman_oldest_waiting_seconds{channel="ops"} ${waited() / 1000}`);
  expect(page).toMatch(/escapement_watchman_test_accepted_seconds\{channel="ops"\} \d/);
  expect(page).toMatch(/^escapement_watchman_heartbeat_seconds \d/m);
});

test("neither key nor path of a URL is in the log or the records", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, `  heartbeat: { url: "URL/beat-token", every: 1s }`);
  receiver.answer = ({ path }) => ({ status: 500, body: `${path} ${secret}` });
  await desk.passes(3, [finding("a")]);
  expect(desk.log.text).toMatch(/alerts were not accepted/);
  expect(desk.log.text).toMatch(/heartbeat was not answered/);
  const rows = JSON.stringify(await desk.rows("SELECT * FROM escapement.alert_delivery"));
  expect(rows).toMatch(/HTTP 500/);
  for (const text of [desk.log.text, rows]) expect(text).not.toMatch(/key of the tests|\/ops|beat-token/);
});

describe.skipIf(unavailable("Alertmanager", hasAlertmanager))("Alertmanager from end to end", () => {
  test("an open alert is posted again and again, and its end is seen there", async () => {
    const receiver = await Receiver.open();
    const alertmanager = await startAlertmanager(`${receiver.url}/told`);
    const desk = await DeskRehearsal.open(
      receiver,
      `  channels: [{ name: am, type: alertmanager, url: "${alertmanager.url}", resendEvery: 1s }]
  routes: [{ channels: [am] }]`,
    );
    desk.now = new Date();
    const keys = async () => (await alertmanager.alerts()).map((one) => one.labels.key);
    const ends = async () => Date.parse((await alertmanager.alerts())[0]?.endsAt ?? "");
    await desk.passes(2, [finding("a")]);
    await until(async () => (await keys()).join() === "a", { what: "the alert" });
    const first = await ends();
    // Longer than the four seconds after which it would end by itself.
    await until(
      async () => {
        await desk.pass([finding("a")]);
        return (await ends()) > first + 5_000;
      },
      { what: "the alert to be posted again", everyMs: 300 },
    );
    expect(await keys()).toEqual(["a"]);
    // The end that the desk tells is one of the real clock.
    desk.now = new Date();
    await desk.passes(3, []);
    desk.now = new Date(Date.now() + 120_000);
    await desk.passes(1, []);
    await until(async () => (await keys()).length === 0, { what: "the end", deadlineMs: 20_000 });
  });
});
