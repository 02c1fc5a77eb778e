/** A desk among things that break: the database's clock, its own file, a second watchman, a receiver that hangs. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AlertDesk } from "../../src/watchman/alert-desk.ts";
import type { Finding } from "../../src/watchman/finding.ts";
import type { Picture } from "../../src/watchman/picture.ts";
import { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { DeskRehearsal, finding, KeptLog, told, who } from "./desk-rehearsal.ts";

test("the database's clock goes back by an hour: what waits is tried all the same, and no grace begins", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, "  startUpGrace: 2m");
  // In its grace when it happens.
  await desk.pass([finding("a")]);
  await desk.passes(5, [finding("a")]);
  receiver.answer = () => ({ status: 503 });
  await desk.passes(4, [finding("a"), finding("b")]);
  desk.now = new Date(desk.now.getTime() - 3_600_000);
  await desk.desk.close();
  await desk.restart();
  receiver.answer = () => ({ status: 200 });
  await desk.passes(3, [finding("a"), finding("b"), finding("c")]);
  expect(told(receiver).sort()).toEqual(["open a", "open b", "open c"]);
});

test("a spool that cannot be taken away does not keep alerts out of the store", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, "  rules: { store-unreachable: { for: 0s } }");
  await desk.pass([finding("gone", { rule: "store-unreachable" })], { away: true });
  rmSync(desk.watch.spoolFile);
  mkdirSync(join(desk.watch.spoolFile, "in-the-way"), { recursive: true });
  await desk.passes(3, [finding("a")]);
  expect(await desk.rows("SELECT dedup_key AS key FROM escapement.alert_outbox ORDER BY 1")).toEqual([
    { key: "a" },
    { key: "gone" },
  ]);
  expect(told(receiver)).toEqual(["open gone", "open a", "resolved gone"]);
  expect(desk.log.text).toMatch(/the spool could not be emptied/);
  rmSync(desk.watch.spoolFile, { recursive: true });
});

test("two watchmen on one store tell everything once, also when their passes coincide", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  const log = new KeptLog();
  const twin = await AlertDesk.open({ watch: desk.watch, db: desk.db, who: { ...who(), node: "w2" }, log });
  const pass = async (findings: readonly Finding[]) => {
    const picture = { now: desk.now } as Picture;
    await Promise.all([desk.desk.present(findings, picture), twin.present(findings, picture)]);
    await Promise.all([desk.desk.settled(), twin.settled()]);
    desk.now = new Date(desk.now.getTime() + 30_000);
  };
  for (let i = 0; i < 4; i++) await pass([finding("a"), finding("b", { cause: "no-leader" })]);
  for (let i = 0; i < 3; i++) await pass([]);
  expect(told(receiver).sort()).toEqual([
    "open a",
    "open cause:no-leader",
    "resolved a",
    "resolved cause:no-leader",
  ]);
  expect(desk.log.text + log.text).not.toMatch(/could not/);
  await twin.close();
});

test("a receiver that hangs holds up nobody else's alerts", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  channels:
    - { name: ops, type: webhook, url: "URL/ops", secretFile: key, timeout: 60s }
    - { name: pager, type: webhook, url: "URL/pager", secretFile: key }
  routes: [{ channels: [ops, pager] }]`,
  );
  receiver.answer = ({ path }) => (path === "/ops" ? "nothing" : { status: 200 });
  const pass = async (...keys: string[]) => {
    await desk.desk.present(
      keys.map((key) => finding(key)),
      { now: desk.now } as Picture,
    );
    desk.now = new Date(desk.now.getTime() + 30_000);
  };
  await pass("a");
  await pass("a");
  await until(() => told(receiver, "/pager").length === 1, { what: "the first alert" });
  await pass("a", "b");
  await pass("a", "b");
  await until(() => told(receiver, "/pager").length === 2, { what: "the second alert", deadlineMs: 20_000 });
  expect(receiver.asked.filter(({ path }) => path === "/ops")).toHaveLength(1);
  await receiver.down();
});
