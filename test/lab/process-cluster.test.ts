/** The lab itself, with a stand-in for the program: what it promises about processes, networks and clocks. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findClockLibrary, processClockLabel } from "../../src/lab/process-clock.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { processesWith } from "../../src/lab/strays.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";

const program = [process.execPath, fileURLToPath(new URL("stand-in.mjs", import.meta.url))] as const;
const clocksMissing = unavailable("the process-level clock", findClockLibrary() !== undefined);

let cluster: ProcessCluster;
beforeAll(async () => {
  cluster = await startProcessCluster({
    program,
    schedulers: 2,
    executors: 1,
    clocks: !clocksMissing,
    postgresSettings: { fsync: "off" },
  });
});
afterAll(async () => {
  const { strays } = await cluster.down();
  expect(strays).toBe(0);
  expect(existsSync(cluster.directory)).toBe(false);
  expect(cluster.nodes.map((node) => node.state)).toEqual(["stopped", "stopped", "stopped"]);
});

/** Waits for a leader of a later epoch than `epoch`, other than `notNode`. */
async function leaderAfter(epoch: number, notNode?: string) {
  return until(
    async () => {
      const leader = await cluster.leader();
      return leader && leader.epoch > epoch && leader.node !== notNode && leader;
    },
    { what: `a leader after epoch ${epoch}` },
  );
}

/** The wall clock that a node told last, minus ours, in ms; and how many times it has told it. */
function clockOf(name: string): { offsetMs: number; told: number } {
  const told = [
    ...cluster
      .node(name)
      .logTail(1_000_000)
      .matchAll(/^clock (\d+)$/gm),
  ];
  return { offsetMs: Number(told.at(-1)?.[1]) - Date.now(), told: told.length };
}

describe("processes", () => {
  test("a killed leader is followed by the other; restarted, it is another process", async () => {
    const first = await leaderAfter(0);
    const node = cluster.node(first.node);
    const pid = node.pid;
    expect(await node.kill()).toEqual({ code: null, signal: "SIGKILL" });
    expect(node.state).toBe("stopped");
    await leaderAfter(first.epoch, first.node);
    await node.restart();
    await cluster.ready(node.name);
    expect(node.pid).not.toBe(pid);
    expect(node.pids.length).toBe(2);
  });

  test("a frozen leader is followed by the other, and goes on when it is thawed", async () => {
    const first = await leaderAfter(0);
    const node = cluster.node(first.node);
    node.freeze();
    expect(node.state).toBe("frozen");
    await leaderAfter(first.epoch, first.node);
    const { told } = clockOf(node.name);
    expect(node.state).toBe("frozen");
    node.thaw();
    await until(() => clockOf(node.name).told > told, { what: "the thawed node's next word" });
  });

  test("SIGTERM stops a node, and one that is not there is an error with the names", async () => {
    const node = cluster.node("executor-1");
    expect(await node.stop()).toEqual({ code: null, signal: "SIGTERM" });
    await node.start();
    await cluster.ready("executor-1");
    expect(() => cluster.node("executor-9")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("executor-1") }),
    );
  });
});

describe("network and store", () => {
  test.each(["pause", "reset"] as const)(
    "a leader without network (%s) is followed by the other, until it heals",
    async (how) => {
      const first = await leaderAfter(0);
      cluster.cutNetwork(first.node, how);
      const second = await leaderAfter(first.epoch, first.node);
      const failures = /^failed /gm;
      await until(() => failures.test(cluster.node(first.node).logTail()), {
        what: "the cut node's failure",
      });
      // Its process was never touched, and the other way round the other one has no network now.
      expect(cluster.node(first.node).state).toBe("running");
      cluster.heal(first.node);
      cluster.cutNetwork(second.node, how);
      await leaderAfter(second.epoch, second.node);
      cluster.heal(second.node);
    },
  );

  test("the store dies and comes back under the same URL", async () => {
    const before = await leaderAfter(0);
    await cluster.server.kill();
    await expect(cluster.leader()).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
    await cluster.server.start();
    const after = await until(() => cluster.leader(), { what: "a leader" });
    expect(after.epoch).toBeGreaterThanOrEqual(before.epoch);
  });
});

describe.skipIf(clocksMissing)(processClockLabel, () => {
  test("each node has its own, and it can be stepped while it runs", async () => {
    await cluster.setClock("scheduler-1", 300_000);
    await cluster.setClock("executor-1", -300_500);
    // A word that was written before the step must not count.
    const told = { one: clockOf("scheduler-1").told, two: clockOf("executor-1").told };
    await until(
      () => clockOf("scheduler-1").told > told.one + 1 && clockOf("executor-1").told > told.two + 1,
      { what: "new words" },
    );
    expect(Math.abs(clockOf("scheduler-1").offsetMs - 300_000)).toBeLessThan(5_000);
    expect(Math.abs(clockOf("executor-1").offsetMs + 300_500)).toBeLessThan(5_000);
    expect(Math.abs(clockOf("scheduler-2").offsetMs)).toBeLessThan(5_000);
    // A new incarnation starts with the clock of its node.
    await cluster.node("scheduler-1").restart();
    await cluster.ready("scheduler-1");
    await until(() => clockOf("scheduler-1").offsetMs > 290_000, { what: "the clock after the restart" });
    await cluster.setClock("scheduler-1", 0);
    await cluster.setClock("executor-1", 0);
  });

  test("the store has one, too: its clock_timestamp() follows, both ways", async () => {
    const offset = async () => {
      const { rows } = await cluster.store.query<{ now: Date }>("SELECT clock_timestamp() AS now");
      return rows[0]!.now.getTime() - Date.now();
    };
    for (const wanted of [120_000, -120_000, 0]) {
      await cluster.setClock("store", wanted);
      expect(Math.abs((await offset()) - wanted)).toBeLessThan(5_000);
    }
  });
});

describe("what must not go wrong", () => {
  test("a cluster without clocks refuses to step one", async () => {
    const plain = await startProcessCluster({
      program,
      schedulers: 1,
      executors: 1,
      postgresSettings: { fsync: "off" },
    });
    await expect(plain.setClock("store", 1_000)).rejects.toMatchObject({ code: "E_UNAVAILABLE" });
    expect(await plain.down()).toEqual({ strays: 0 });
  });

  test("a process that outlives its node is found, killed and counted", async () => {
    const leaky = await startProcessCluster({
      program,
      schedulers: 1,
      executors: 1,
      environment: { STAND_IN_STRAYS: "executor-1" },
      postgresSettings: { fsync: "off" },
    });
    expect(await leaky.down()).toEqual({ strays: 1 });
    expect(processesWith(["STAND_IN_STRAYS="])).toEqual([]);
  });

  test("a node that ends at once is an error with its last words, and nothing is left", async () => {
    const directory = mkdtempSync(join(tmpdir(), "escapement-test-"));
    const failing = startProcessCluster({
      program,
      directory,
      environment: { STAND_IN_FAILS: "scheduler-2" },
    });
    await expect(failing).rejects.toMatchObject({
      code: "E_UNAVAILABLE",
      message: expect.stringContaining("scheduler-2 was told to fail"),
    });
    expect(processesWith(["STAND_IN_FAILS="])).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  test("a given file must leave the way to the store to the lab", async () => {
    const directory = mkdtempSync(join(tmpdir(), "escapement-test-"));
    const clusterFile = join(directory, "cluster.yaml");
    writeFileSync(
      clusterFile,
      `apiVersion: escapement/v1
kind: Cluster
metadata: { name: own }
spec:
  store: { url: "postgres://127.0.0.1:1/escapement" }
  scheduler: { nodes: [{ name: s, http: { address: 127.0.0.1, port: 20001 } }] }
  executor: { nodes: [{ name: e, slots: { cpu: 1, memory: 1, io: 1 }, workDirectory: work }] }
  logs: { directory: logs }
`,
    );
    await expect(startProcessCluster({ program, clusterFile })).rejects.toMatchObject({
      code: "E_BAD_DATA",
      hint: expect.stringContaining("ESCAPEMENT_STORE_URL"),
    });
    rmSync(directory, { recursive: true });
  });
});
