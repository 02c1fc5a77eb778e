/** A drained node gets no new work: not now, not after a restart, and not by a claim that was on its way. */
import { expect, test } from "vitest";
import { claimShards } from "../../src/store/claim.ts";
import { drainedNodes, drainNode, nodeLoads, undrainNode } from "../../src/store/drain.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { until } from "../support/until.ts";
import { Bench, deed } from "./bench.ts";

async function waitingShards(count: number): Promise<Bench> {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("waiting", hashed(count)));
  await bench.plan(job, [await bench.at(-1_000)]);
  await openDue(bench.db);
  return bench;
}

async function nodeOf(bench: Bench, incarnation: string): Promise<string> {
  return bench.value<string>("SELECT node FROM escapement.executor WHERE incarnation = $1", [incarnation]);
}

test("a drained node claims nothing, a later process of it neither, until it is let in again", async () => {
  const bench = await waitingShards(4);
  const executor = await bench.executor();
  const node = await nodeOf(bench, executor);
  const [held] = await bench.claim(executor, { limit: 1 });
  expect(await drainNode(bench.db, node, deed)).toBe(true);
  expect(await drainNode(bench.db, node, deed)).toBe(false);
  expect(await drainedNodes(bench.db)).toMatchObject([{ node, ...deed }]);
  expect(await bench.claim(executor)).toEqual([]);
  expect(await bench.claim(executor, { catchUp: true })).toEqual([]);
  expect(await nodeLoads(bench.db)).toEqual([{ node, running: 1, leaseEnded: 0, processes: 1 }]);
  // What it runs goes on to its end.
  expect(await bench.complete(executor, [held!])).toEqual([true]);
  expect(await nodeLoads(bench.db)).toEqual([{ node, running: 0, leaseEnded: 0, processes: 1 }]);

  const restarted = await bench.executor();
  await bench.db.query("UPDATE escapement.executor SET node = $1 WHERE incarnation = $2", [node, restarted]);
  expect(await bench.claim(restarted)).toEqual([]);
  const other = await bench.executor();
  expect(await bench.claim(other, { limit: 1 })).toHaveLength(1);

  expect(await undrainNode(bench.db, node, deed)).toBe(true);
  expect(await undrainNode(bench.db, node, deed)).toBe(false);
  expect(await bench.claim(restarted)).toHaveLength(2);
  const deeds = await bench.db.query(
    "SELECT action FROM escapement.operation WHERE action LIKE '%drain' ORDER BY at",
  );
  expect(deeds.rows).toEqual([{ action: "drain" }, { action: "undrain" }]);
});

test("draining waits for a claim that has begun, and a claim that waits for it gets nothing", async () => {
  const bench = await waitingShards(2);
  const executor = await bench.executor();
  const node = await nodeOf(bench, executor);
  let drained: Promise<boolean> | undefined;
  let isDrained = false;
  const request = { incarnation: executor, class: "cpu", limit: 1, catchUp: false, catchUpShare: 0 } as const;
  await bench.db.transaction(async (tx) => {
    expect(await claimShards(tx, request)).toHaveLength(1);
    drained = drainNode(bench.db, node, deed).finally(() => {
      isDrained = true;
    });
    await until(
      () =>
        bench.value(
          "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        ),
      { what: "the drain to wait for the claim" },
    );
    expect(isDrained).toBe(false);
  });
  expect(await drained).toBe(true);
  expect(await nodeLoads(bench.db)).toMatchObject([{ node, running: 1 }]);
  // The other way round: the claim comes while the drain has not committed.
  await undrainNode(bench.db, node, deed);
  let claim: Promise<unknown[]> | undefined;
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT escapement.drain($1, 'p', 'r')", [node]);
    claim = bench.claim(executor);
    await until(
      () =>
        bench.value(
          "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        ),
      { what: "the claim to wait for the drain" },
    );
  });
  expect(await claim).toEqual([]);
});

test("the scheduler's role may drain and let in, the executor's may only look", async () => {
  const owner = await Bench.open();
  const { db } = await owner.as("scheduler");
  expect(await drainNode(db, "n", deed)).toBe(true);
  expect(await undrainNode(db, "n", deed)).toBe(true);
  const { db: executor } = await owner.as("executor");
  expect(await drainedNodes(executor)).toEqual([]);
  await expect(drainNode(executor, "n", deed)).rejects.toThrow(/permission denied/);
});
