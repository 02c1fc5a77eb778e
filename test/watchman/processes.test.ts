/** A real watchman beside a real cluster: it sees the schedulers go, the store go, and tells a real receiver. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { grantRole } from "../../src/store/roles.ts";
import { digestOf, testJob } from "../support/job.ts";
import { runEscapement, startEscapement } from "../support/processes.ts";
import { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { told } from "./desk-rehearsal.ts";

const patient = { deadlineMs: 60_000 };
const limit = 180_000;

let cluster: ProcessCluster;
let folder: string;
let environment: { ESCAPEMENT_STORE_URL: string; PATH: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "watchman-"));
  cluster = await startProcessCluster({
    schedulers: 1,
    executors: 1,
    scheduler: { lease: "2s", renewEvery: "500ms", stopEarly: "500ms", lookAhead: "4s" },
    postgresSettings: { fsync: "off" },
    prepare: async (store) => {
      const job = testJob("tick", {
        schedule: { kind: "every", everyMs: 1_000 },
        blocking: { policy: "allow" },
      });
      await applyJob(store, job, digestOf(job), { person: "test", reason: "test" });
      await store.query("CREATE ROLE watch_login LOGIN");
      await grantRole(store, "watch_login", "watchman");
    },
  });
  const url = new URL(cluster.storeUrl);
  url.username = "watch_login";
  // Without a time service of this machine to ask.
  environment = { ESCAPEMENT_STORE_URL: url.href, PATH: folder };
}, limit);
afterAll(async () => {
  expect(await cluster.down()).toEqual({ strays: 0 });
  rmSync(folder, { recursive: true });
});

function watchFile(url: string, spec = ""): string {
  const file = join(folder, "watch.yaml");
  writeFileSync(join(folder, "key"), "a secret of the tests");
  writeFileSync(
    file,
    `apiVersion: escapement/v1
kind: Watch
metadata: { name: test }
spec:
  every: 1s
  startUpGrace: 0s
  spoolFile: spool
  thresholds: { openWithin: 3s, leaderAbsent: 3s, silent: 20s, lateStart: 10s }
  jobs: [{ job: "*", grace: 5s }]
  channels: [{ name: ops, type: webhook, url: "${url}/ops", secretFile: key }]
  routes: [{ channels: [ops] }]
${spec}`,
  );
  return file;
}

test("--once says what is wrong, by its exit code, too", { timeout: limit }, async () => {
  const args = ["watchman", "--cluster", cluster.clusterFile, "--once", "--json"];
  await cluster.ready(cluster.schedulers[0]!.name);
  let last = "";
  const well = await until(
    async () => {
      const finished = await runEscapement(args, { environment });
      if (finished.code !== 0) last = finished.stdout + finished.stderr;
      return finished.code === 0 && finished;
    },
    { ...patient, what: "a cluster with which nothing is wrong" },
  ).catch((error: Error) => {
    throw new Error(`${error.message}; the last look found ${last}`);
  });
  expect(JSON.parse(well.stdout)).toMatchObject({ jobs: 1, findings: [] });
  const lost = `DELETE FROM escapement.execution WHERE fire_time = (
    SELECT max(fire_time) FROM escapement.execution WHERE fire_time < now() - interval '5 seconds' AND status = 'success')`;
  await until(async () => (await cluster.store.query(lost)).rowCount === 1, {
    ...patient,
    what: "a fire to lose",
  });
  const file = watchFile("http://127.0.0.1:9");
  const wrong = await runEscapement(
    ["watchman", "--cluster", cluster.clusterFile, "--watch", file, "--once"],
    { environment },
  );
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining("fire-gap") });
});

test(
  "no leader, and later no store: each is told once, and told to be over; it stops in order",
  async () => {
    const receiver = await Receiver.open();
    const at = `127.0.0.1:${await freePort()}`;
    const watchman = await startEscapement(
      [
        "watchman",
        "--cluster",
        cluster.clusterFile,
        "--watch",
        watchFile(receiver.url),
        "--node",
        "w1",
        "--http",
        at,
      ],
      { environment },
    );
    const heard = (what: string) =>
      until(() => told(receiver).includes(what), { ...patient, what }).catch((error: Error) => {
        throw new Error(
          `${error.message}; told were ${told(receiver).join(", ")}; ${watchman.stdout().slice(-2_000)}`,
        );
      });
    const get = async (path: string) => {
      const answer = await fetch(`http://${at}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    await until(async () => (await get("/readyz").catch(() => null))?.status === 200, {
      ...patient,
      what: "readiness",
    });
    expect((await get("/metrics")).text).toMatch(/^escapement_watchman_leader 1$/m);

    const scheduler = cluster.schedulers[0]!;
    await scheduler.kill();
    await heard("open cause:no-leader");
    expect((await get("/metrics")).text).toMatch(/^escapement_watchman_findings\{rule="no-leader"\} 1$/m);
    await scheduler.restart();
    await heard("resolved cause:no-leader");

    await cluster.server.stop("immediate");
    await heard("open cause:store");
    expect(await get("/readyz")).toMatchObject({
      status: 503,
      text: expect.stringContaining("record store"),
    });
    await cluster.server.start();
    await heard("resolved cause:store");
    await until(async () => (await get("/readyz")).status === 200, { ...patient, what: "readiness again" });

    watchman.kill("SIGTERM");
    expect((await watchman.exited).code).toBe(0);
    expect(watchman.stdout()).not.toContain("a secret of the tests");
    expect(told(receiver).filter((what) => what === "open cause:no-leader")).toHaveLength(1);
  },
  limit,
);

test("a bad watch file ends with 65 and names its place", async () => {
  const file = watchFile(
    "http://127.0.0.1:9",
    "  silences: [{ reason: x, by: me, until: tomorrow, match: { job: [a] } }]\n",
  );
  const finished = await runEscapement(["watchman", "--cluster", cluster.clusterFile, "--watch", file], {
    environment,
  });
  expect(finished).toMatchObject({ code: 65, stderr: expect.stringMatching(/watch\.yaml:12:\d+.*until/) });
});
