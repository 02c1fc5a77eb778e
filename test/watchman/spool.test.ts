/** The store is away: alerts go out from the spool, and the records learn of it afterwards. */
import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTcpProxy } from "../../src/lab/tcp-proxy.ts";
import { Database } from "../../src/store/database.ts";
import { Spool } from "../../src/watchman/spool.ts";
import { Receiver } from "../support/receiver.ts";
import { message } from "./channel-message.ts";
import { DeskRehearsal, finding, secret, told } from "./desk-rehearsal.ts";

const gone = finding("store-unreachable", {
  rule: "store-unreachable",
  severity: "critical",
  cause: "store",
});

/** A desk whose way to the store can be cut. */
async function withWay(receiver: Receiver, spec = "") {
  const desk = await DeskRehearsal.open(receiver, spec);
  const url = new URL(desk.url);
  const proxy = await startTcpProxy({ port: Number(url.port) });
  url.port = String(proxy.port);
  url.hostname = "127.0.0.1";
  const db = new Database(url.href, { maxConnections: 4, connectTimeoutMs: 1_000 });
  await desk.restart(db);
  onTestFinished(async () => {
    await db.end();
    await proxy.close();
  });
  return { desk, proxy, db };
}

test("the store goes and comes back: told at once, nothing called over meanwhile, nothing told twice", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver);
  await desk.passes(3, [finding("a"), finding("b")]);
  expect(told(receiver)).toEqual(["open a", "open b"]);
  proxy.cut();
  for (let i = 0; i < 10; i++) await desk.pass([gone], { away: true });
  expect(told(receiver)).toEqual(["open a", "open b", "open cause:store"]);
  expect(desk.desk.status).toMatchObject({ spooled: 0 });
  expect(statSync(desk.watch.spoolFile).mode & 0o777).toBe(0o600);
  expect(desk.spoolText()).not.toContain(secret);
  proxy.heal();
  await desk.passes(3, [finding("a")]);
  expect(told(receiver).sort()).toEqual([
    "open a",
    "open b",
    "open cause:store",
    "resolved b",
    "resolved cause:store",
  ]);
  expect(desk.spoolText()).toBe("");
  const rows = await desk.rows("SELECT alert_key AS key, state FROM escapement.alert_delivery ORDER BY 1, 2");
  expect(rows.map(({ key, state }) => `${key} ${state}`)).toEqual([
    "a accepted",
    "b accepted",
    "b accepted",
    "cause:store accepted",
    "cause:store accepted",
  ]);
});

test("store and receiver are away for an hour: one message when the receiver is back, none more with the store", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver);
  await desk.pass([]);
  proxy.cut();
  await receiver.down();
  for (let i = 0; i < 120; i++) await desk.pass([gone], { away: true });
  // Its size follows what happens, not how long it lasts.
  expect(desk.spoolText().split("\n").length).toBeLessThan(10);
  await receiver.up();
  for (let i = 0; i < 12; i++) await desk.pass([gone], { away: true });
  expect(told(receiver)).toEqual(["open cause:store"]);
  proxy.heal();
  await desk.passes(3, []);
  expect(told(receiver)).toEqual(["open cause:store", "resolved cause:store"]);
});

test("what waits in the spool when the store comes back goes out from there", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver);
  await desk.pass([]);
  proxy.cut();
  await receiver.down();
  for (let i = 0; i < 3; i++) await desk.pass([gone], { away: true });
  proxy.heal();
  await desk.pass([]);
  expect(desk.spoolText()).toBe("");
  await receiver.up();
  await desk.passes(12, []);
  expect(
    told(receiver)
      .join()
      .match(/open cause:store/g),
  ).toHaveLength(1);
  expect(told(receiver).join()).toMatch(/resolved cause:store/);
});

test("the store goes between the pass and its writing: the alert goes out all the same", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver, "  rules: { late-start: { for: 0s } }");
  await desk.pass([]);
  proxy.cut();
  // The picture was read, so it is not null.
  await desk.pass([finding("a")]);
  expect(told(receiver)).toEqual(["open a"]);
  proxy.heal();
  await desk.passes(3, [finding("a")]);
  expect(told(receiver)).toEqual(["open a"]);
});

test("the store goes while the receiver answers: that it was accepted is not forgotten", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver, "  rules: { late-start: { for: 0s } }");
  await desk.pass([]);
  receiver.answer = () => {
    proxy.cut();
    return { status: 200 };
  };
  await desk.pass([finding("a")]);
  expect(desk.spoolText()).toContain('"accepted"');
  proxy.heal();
  desk.now = new Date(desk.now.getTime() + 600_000);
  await desk.passes(5, [finding("a")]);
  expect(told(receiver)).toEqual(["open a"]);
});

test("a fallback that was told from the spool is told of the end", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ channels: [ops], fallback: [pager] }]`,
  );
  receiver.answer = ({ path }) => ({ status: path === "/ops" ? 503 : 200 });
  await desk.pass([]);
  proxy.cut();
  for (let i = 0; i < 10; i++) await desk.pass([gone], { away: true });
  expect(told(receiver, "/pager")).toEqual(["open cause:store"]);
  proxy.heal();
  await desk.passes(4, []);
  expect(told(receiver, "/pager")).toEqual(["open cause:store", "resolved cause:store"]);
});

test("a line that was cut, and one that is nothing, are dropped; what comes after them is not", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  const file = join(desk.folder, "torn");
  const now = new Date("2026-07-01T00:00:00Z");
  const queued = (messageId: string) => ({
    messageId,
    channel: "ops",
    alertKey: "k",
    fallback: [],
    message: message(),
  });
  const spool = await Spool.open(file);
  await spool.save([], [queued("one")], now);
  appendFileSync(file, '{"queued":{"messageId":"hal');
  const again = await Spool.open(file);
  expect(again.deliveries.map(({ messageId }) => messageId)).toEqual(["one"]);
  await again.save([], [queued("two")], now);
  await again.accept([queued("one")], now);
  appendFileSync(file, "nonsense\n{}\n");
  // A message that is none would cut every round of deliveries short.
  const { messageId: _, ...rest } = JSON.parse(JSON.stringify(queued("three")));
  appendFileSync(file, `${JSON.stringify({ queued: { messageId: "three", ...rest, message: null } })}\n`);
  const last = await Spool.open(file);
  expect(last.deliveries.map(({ messageId, acceptedAt }) => [messageId, acceptedAt])).toEqual([
    ["one", now],
    ["two", null],
  ]);
  expect(last.pending).toHaveLength(1);
  await last.clear();
  expect((await Spool.open(file)).isEmpty).toBe(true);
});

test("a spool that cannot be read stops the start; one that cannot be written does not stop the telling", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    "  spoolFile: key/spool\n  rules: { store-unreachable: { for: 0s } }",
  ).catch((error: { code: string }) => error.code);
  expect(desk).toBe("E_FILE_UNREADABLE");
  const other = await DeskRehearsal.open(
    receiver,
    "  rules: { store-unreachable: { for: 0s } }\n  spoolFile: later/spool",
  );
  writeFileSync(join(other.folder, "later"), "");
  await other.pass([gone], { away: true });
  expect(told(receiver)).toEqual(["open cause:store"]);
  expect(other.log.text).toMatch(/the spool could not be written/);
});

test("what the spool holds of an alert that the store has lost keeps no other alert from the records", async () => {
  const receiver = await Receiver.open();
  const { desk, proxy } = await withWay(receiver);
  await desk.passes(3, [finding("a")]);
  proxy.cut();
  for (let i = 0; i < 5; i++) await desk.pass([gone], { away: true });
  const queued = {
    ...{ messageId: "lost", channel: "ops", alertKey: "forgotten", fallback: [] },
    message: message(),
  };
  appendFileSync(desk.watch.spoolFile, `${JSON.stringify({ queued: { ...queued, createdAt: desk.now } })}\n`);
  await desk.restart();
  proxy.heal();
  await desk.passes(3, [finding("a"), finding("b")]);
  const rows = await desk.rows("SELECT dedup_key AS key FROM escapement.alert_outbox ORDER BY 1");
  expect(rows.map(({ key }) => key)).toEqual(["a", "b", "cause:store"]);
  expect(desk.spoolText()).toBe("");
  expect(desk.log.text).toMatch(/does not know any more.*|forgotten/);
});
