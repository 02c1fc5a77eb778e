/** The watchman as people start it: what it finds arrives, is over when it is over, and survives a kill. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { acquireLeadership } from "../../src/store/leadership.ts";
import { startEscapement } from "../support/processes.ts";
import { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { DeskRehearsal, told } from "./desk-rehearsal.ts";

test("nobody leads: told, once, also when the watchman is killed and started again; somebody leads: the end is told", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(
    receiver,
    `  every: 1s
  http: { address: 127.0.0.1, port: ${await freePort()} }
  thresholds: { leaderAbsent: 1s }`,
  );
  const cluster = join(desk.folder, "cluster.yaml");
  writeFileSync(
    cluster,
    `apiVersion: escapement/v1
kind: Cluster
metadata: { name: test }
spec:
  store: { url: "${desk.url}" }
  scheduler: { nodes: [{ name: s1, http: { address: 127.0.0.1, port: 7101 } }] }
  executor: { nodes: [{ name: e1, slots: { cpu: 1, memory: 0, io: 0 }, workDirectory: work }] }
  logs: { directory: logs }
`,
  );
  const start = () =>
    startEscapement([
      "watchman",
      "--cluster",
      cluster,
      "--watch",
      join(desk.folder, "watch.yaml"),
      "--node",
      "w1",
    ]);
  const about = (phase: string) => told(receiver).filter((one) => one === `${phase} cause:no-leader`).length;
  const victim = await start();
  await until(() => about("open") === 1, { what: "the alert about the leader" });
  const states = () => desk.rows("SELECT DISTINCT state FROM escapement.alert_delivery");
  await until(async () => JSON.stringify(await states()) === '[{"state":"accepted"}]', {
    what: "that to be written",
  });
  victim.kill("SIGKILL");
  await victim.exited;
  const next = await start();
  await next.seen(/watchman started/);
  const holder = "00000000-0000-4000-8000-000000000001";
  await acquireLeadership(desk.db, { holder, node: "s1", host: "h" }, 60_000);
  await until(() => about("resolved") === 1, { what: "the end" });
  expect(about("open")).toBe(1);
  // One that was killed keeps its process in its row, one that was asked to end does not.
  const pids = () => desk.rows("SELECT pid FROM escapement.watchman");
  expect(await pids()).toEqual([{ pid: next.pid }]);
  next.kill("SIGTERM");
  expect(await next.exited, next.stdout()).toMatchObject({ code: 0 });
  expect(await pids()).toEqual([{ pid: 0 }]);
  expect(victim.stdout() + next.stdout()).not.toMatch(/key of the tests/);
});
