/** From a finding to a receiver: at least once, once where nothing dies, and no storm afterwards. */
import { expect, onTestFinished, test } from "vitest";
import { raiseAlert } from "../../src/store/alert.ts";
import { Database } from "../../src/store/database.ts";
import { grantRole } from "../../src/store/roles.ts";
import { addSilence } from "../../src/store/watch/silence.ts";
import { Receiver } from "../support/receiver.ts";
import { DeskRehearsal, finding, told } from "./desk-rehearsal.ts";

const states = `SELECT channel, state, attempts FROM escapement.alert_delivery ORDER BY delivery_id`;

test("one trouble is one message, and its end another; the records say who accepted what", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  await desk.passes(10, [finding("a", { job: "payroll/bonus", fireTime: new Date("2026-07-01T00:00:00Z") })]);
  await desk.passes(5, []);
  expect(told(receiver)).toEqual(["open a", "resolved a"]);
  expect(receiver.accepted[0]?.json.alert).toMatchObject({
    job: "payroll/bonus",
    fireTime: "2026-07-01T00:00:00.000Z",
  });
  expect(await desk.rows(states)).toEqual([
    { channel: "ops", state: "accepted", attempts: 0 },
    { channel: "ops", state: "accepted", attempts: 0 },
  ]);
  const [row] = await desk.rows(
    "SELECT kind, episode, resolved_at, sent_at, job FROM escapement.alert_outbox",
  );
  expect(row).toMatchObject({
    kind: "late-start",
    episode: 1,
    job: "payroll/bonus",
    resolved_at: expect.any(Date),
  });
});

test("a restart between two passes tells nothing twice and forgets nothing", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  for (let i = 0; i < 6; i++) {
    await desk.pass([finding("a")]);
    await desk.restart();
  }
  expect(told(receiver)).toEqual(["open a"]);
  await desk.pass([]);
  await desk.restart();
  await desk.pass([]);
  expect(told(receiver)).toEqual(["open a", "resolved a"]);
});

test("the receiver is down for an hour: each message arrives once when it is back, and soon", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  await receiver.down();
  for (let i = 0; i < 120; i++) await desk.pass([finding("a")]);
  expect(told(receiver)).toEqual([]);
  await receiver.up();
  const back = desk.now.getTime();
  const aboutA = () =>
    told(receiver)
      .join()
      .match(/open a\b/g) ?? [];
  while (aboutA().length === 0 && desk.now.getTime() - back < 3_600_000) await desk.pass([finding("a")]);
  // The longest wait between two tries is 5 minutes.
  expect(desk.now.getTime() - back).toBeLessThanOrEqual(5 * 60_000 + 30_000);
  await desk.passes(20, [finding("a")]);
  expect(aboutA()).toHaveLength(1);
  // Nothing but that, and word about the channel itself.
  expect(told(receiver)).toEqual(["digest open a, open channel-failing:ops", "resolved channel-failing:ops"]);
  // Waits of 5, 10, 20 … seconds, then 5 minutes: not one try a pass.
  const [row] = await desk.rows("SELECT attempts FROM escapement.alert_delivery WHERE message_id LIKE 'a@%'");
  expect(row?.attempts).toBeGreaterThan(8);
  expect(row?.attempts).toBeLessThan(25);
});

test("a long outage of the receiver with much trouble ends in one digest, not in a storm", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  await receiver.down();
  for (let i = 0; i < 40; i++) {
    await desk.passes(2, [finding(`job-${i}`)]);
    await desk.passes(2, []);
  }
  await receiver.up();
  for (let i = 0; i < 12; i++) await desk.pass([]);
  const messages = told(receiver);
  expect(messages.length).toBeLessThanOrEqual(11);
  expect(messages[0]).toMatch(/^digest open job-0, resolved job-0, open job-1/);
  const all = messages.join(", ").replaceAll("digest ", "").split(", ");
  const expected = Array.from({ length: 40 }, (_, i) => [`open job-${i}`, `resolved job-${i}`]).flat();
  expect(all.filter((one) => one.includes("job-"))).toEqual(expected);
});

test("many at once are one message", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  const many = Array.from({ length: 200 }, (_, i) => finding(`job-${i}`));
  await desk.passes(2, many);
  expect(receiver.accepted).toHaveLength(1);
  expect(receiver.accepted[0]?.json).toMatchObject({ kind: "digest", count: 200 });
});

test("a message that is refused for good holds up no other, and is given up in the end", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  receiver.answer = ({ json }) => ({ status: JSON.stringify(json).includes('"bad"') ? 400 : 200 });
  await desk.passes(30, [finding("bad"), finding("good")]);
  expect(told(receiver)).toEqual(["open good", "open message-refused:ops"]);
  expect(await desk.rows(states)).toMatchObject([
    { state: "failed", attempts: 3 },
    { state: "accepted" },
    { state: "accepted" },
  ]);
});

test("a channel that fails three times: the fallback is told, once, and of the end as well", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ channels: [ops], fallback: [pager] }]`,
  );
  receiver.answer = ({ path }) => ({ status: path === "/ops" ? 503 : 200 });
  await desk.passes(3, [finding("a")]);
  expect(told(receiver, "/pager")).toEqual([]);
  await desk.passes(6, [finding("a")]);
  expect(told(receiver, "/pager")).toEqual(["open a"]);
  receiver.answer = () => ({ status: 200 });
  await desk.passes(10, [finding("a")]);
  expect(told(receiver)).toEqual(["open a"]);
  await desk.passes(3, []);
  expect(told(receiver, "/pager")).toEqual(["open a", "resolved a"]);
  expect(told(receiver)).toEqual(["open a", "resolved a"]);
});

test("a channel that accepts nothing for ten minutes is an alert of its own, to the others", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ match: { rule: [channel-failing] }, channels: [pager] }, { channels: [ops] }]`,
  );
  receiver.answer = ({ path }) => ({ status: path === "/ops" ? 503 : 200 });
  await desk.passes(40, [finding("a")]);
  expect(told(receiver, "/pager")).toEqual(["open channel-failing:ops"]);
  receiver.answer = () => ({ status: 200 });
  await desk.passes(15, [finding("a")]);
  expect(told(receiver, "/pager")).toEqual(["open channel-failing:ops", "resolved channel-failing:ops"]);
});

test("what schedulers and executors have noted is told once, unless a finding speaks of the same fire", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  desk.now = new Date();
  const fireTime = new Date("2026-07-01T00:00:00Z");
  await raiseAlert(desk.db, {
    dedupKey: "n1",
    kind: "missed",
    severity: "warning",
    message: "3 fires missed",
  });
  await raiseAlert(desk.db, {
    dedupKey: "n2",
    kind: "shard-failed",
    severity: "critical",
    jobId: 7,
    fireTime,
    message: "failed",
  });
  await desk.passes(5, [finding("same", { jobId: 7, fireTime })]);
  await raiseAlert(desk.db, {
    dedupKey: "n1",
    kind: "missed",
    severity: "warning",
    message: "4 fires missed",
  });
  await desk.passes(5, [finding("same", { jobId: 7, fireTime })]);
  expect(told(receiver)).toEqual(["open n1", "open same"]);
});

test("the role of the watchman is enough for all of it", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ channels: [ops], fallback: [pager] }]
  testAlert: { cron: "1 0 * * *", zone: UTC }`,
  );
  const login = `watchman_${process.pid}`;
  await desk.db.query(`CREATE ROLE ${login} LOGIN`);
  await grantRole(desk.db, login, "watchman");
  const url = new URL(desk.url);
  url.username = login;
  const db = new Database(url.href, { maxConnections: 4 });
  onTestFinished(async () => {
    await db.end();
    await desk.db.query(`DROP OWNED BY ${login}`).catch(() => {});
    await desk.db.query(`DROP ROLE ${login}`).catch(() => {});
  });
  await desk.restart(db);
  const end = new Date(desk.now.getTime() + 60_000);
  await addSilence(desk.db, { match: { key: ["b"] }, until: end, reason: "r", by: "b" });
  receiver.answer = ({ path }) => ({ status: path === "/ops" ? 503 : 200 });
  await desk.pass([finding("passing")]);
  await desk.passes(20, [finding("a"), finding("b"), finding("c", { cause: "store" })]);
  receiver.answer = () => ({ status: 200 });
  await desk.passes(12, []);
  expect(desk.log.text).not.toMatch(/permission|could not be written/);
  expect(told(receiver).join()).toMatch(/open a.*resolved a/);
  expect(told(receiver, "/pager").length).toBeGreaterThan(0);
});
