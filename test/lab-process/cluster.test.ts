/** A real cluster of the real program: it runs a job each second while parts of it die, and leaves nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { runEscapement } from "../support/processes.ts";
import { until } from "../support/until.ts";

const lease = { lease: "2s", renewEvery: "500ms", stopEarly: "500ms" };

const tick = {
  apiVersion: "escapement/v1",
  kind: "Job",
  metadata: { name: "tick" },
  spec: {
    command: ["sh", "-c", "echo shard $ESCAPEMENT_SHARD_NO of $ESCAPEMENT_FIRE_TIME"],
    schedule: { cron: "* * * * * *" },
    timeZone: "UTC",
    misfire: { policy: "run-now", threshold: "1h" },
    blocking: { policy: "allow" },
    catchUp: { maxFires: 5, keep: "oldest" },
    retry: { maxAttempts: 5, delays: ["100ms"] },
    lease: "2s",
    timeout: "30s",
    shards: { by: "hash", count: 2, key: "key" },
    resources: { class: "cpu", peakMemory: "8MiB" },
    effects: [
      { kind: "message", target: "log", key: "shard", mode: "insert", sources: ["test/lab-process"] },
    ],
    onStoreLoss: "kill",
  },
};

let cluster: ProcessCluster;
beforeAll(async () => {
  cluster = await startProcessCluster({
    schedulers: 2,
    executors: 3,
    scheduler: { ...lease, lookAhead: "10s" },
    executor: lease,
    postgresSettings: { fsync: "off" },
  });
});
afterAll(async () => {
  expect(await cluster.down()).toEqual({ strays: 0 });
});

async function successes(): Promise<number> {
  const { rows } = await cluster.store.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM escapement.execution WHERE status = 'success'",
  );
  return rows[0]!.n;
}

test("a job fires each second, through the death of the leader, of an executor and of the store", async () => {
  const file = join(cluster.directory, "tick.yaml");
  writeFileSync(file, JSON.stringify(tick));
  const applied = await runEscapement(["jobs", "apply", file, "--url", cluster.storeUrl, "--reason", "test"]);
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
  await until(async () => (await successes()) >= 3, { what: "three executions" });

  const first = await until(() => cluster.leader(), { what: "a leader" });
  await cluster.node(first.node).kill();
  await cluster.node("executor-1").kill();
  await until(
    async () => {
      const leader = await cluster.leader();
      return leader && leader.epoch > first.epoch && leader.node !== first.node;
    },
    { what: "the other scheduler's lead" },
  );
  await cluster.node(first.node).restart();
  await cluster.node("executor-1").restart();
  await Promise.all([first.node, "executor-1"].map((name) => cluster.ready(name)));

  await cluster.server.stop("immediate");
  await cluster.server.start();
  const before = await successes();
  await until(async () => (await successes()) >= before + 3, { what: "three more executions" });

  const { rows } = await cluster.store.query<{ gap: number }>(
    `SELECT max(gap)::float8 AS gap FROM (
       SELECT extract(epoch FROM fire_time - lag(fire_time) OVER (ORDER BY fire_time)) AS gap FROM escapement.execution) AS gaps`,
  );
  expect(rows[0]?.gap).toBe(1);
});
