/** Every write of an attempt, and every taking over, with a token, an owner or a lease that is no longer right. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { saveCheckpoint } from "../../src/store/completion.ts";
import { reapExecutor, renewExecutor, setExecutorState, takeOver } from "../../src/store/executor.ts";
import { freezeKeys, frozenKeysOf } from "../../src/store/frozen-key.ts";
import type { JobRow } from "../../src/store/job.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench } from "./bench.ts";

/** One open execution, claimed whole. */
async function running(
  bench: Bench,
  change = {},
): Promise<{ job: JobRow; fire: Date; owner: string; claims: Awaited<ReturnType<Bench["claim"]>> }> {
  const job = await bench.apply(testJob("fenced", { ...hashed(2), ...change }));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const owner = await bench.executor();
  return { job, fire, owner, claims: await bench.claim(owner) };
}

test("a stale token, a stranger and a reaped executor cannot complete; each try is recorded", async () => {
  const bench = await Bench.open();
  const { job, fire, owner, claims } = await running(bench);
  const old = claims.map((claim) => ({ ...claim, fenceToken: claim.fenceToken - 1 }));
  expect(await bench.complete(owner, old)).toEqual([false, false]);
  const stranger = await bench.executor();
  expect(await bench.complete(stranger, claims)).toEqual([false, false]);
  await bench.expire(owner);
  expect(
    await bench.value(
      "SELECT escapement.reap($1, lease_until) FROM escapement.executor WHERE incarnation = $1",
      [owner],
    ),
  ).toBe(2);
  for (const outcome of ["success", "failed", "retry", "interrupted", "cancelled"] as const) {
    expect(await bench.complete(owner, claims, outcome)).toEqual([false, false]);
  }
  expect(await bench.staleWrites()).toHaveLength(14);
  expect((await bench.shards(job, fire)).map((shard) => shard.status)).toEqual(["pending", "pending"]);
});

test("a zombie's late outcome does not touch the next attempt", async () => {
  const bench = await Bench.open();
  const { owner, claims, job, fire } = await running(bench);
  await bench.expire(owner);
  await bench.value(
    "SELECT escapement.reap($1, lease_until) FROM escapement.executor WHERE incarnation = $1",
    [owner],
  );
  const next = await bench.executor();
  const again = await bench.claim(next);
  expect(again.map((claim) => claim.attempt)).toEqual([2, 2]);
  expect(Math.min(...again.map((c) => c.fenceToken))).toBeGreaterThan(
    Math.max(...claims.map((c) => c.fenceToken)),
  );
  expect(await bench.complete(owner, claims, "failed")).toEqual([false, false]);
  // With the new tokens under the old name, and the old tokens under the new name.
  expect(await bench.complete(owner, again)).toEqual([false, false]);
  expect(await bench.complete(next, claims)).toEqual([false, false]);
  expect(await bench.complete(next, again)).toEqual([true, true]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("an ended lease refuses completion and checkpoint, though nobody has reaped yet", async () => {
  const bench = await Bench.open();
  const { owner, claims } = await running(bench);
  await bench.expire(owner);
  expect(await bench.complete(owner, claims)).toEqual([false, false]);
  expect(await saveCheckpoint(bench.db, owner, claims[0]!, "x", 1)).toBe(false);
  expect(await renewExecutor(bench.db, owner, null)).toBeNull();
  expect(await bench.staleWrites()).toEqual(["success", "success", "checkpoint"]);
});

test("continue-fenced: the fence alone judges the last write", async () => {
  const bench = await Bench.open();
  const { owner, claims } = await running(bench, { onStoreLoss: "continue-fenced" });
  await bench.expire(owner);
  expect(await saveCheckpoint(bench.db, owner, claims[0]!, "x", 1)).toBe(true);
  expect(await bench.complete(owner, claims.slice(0, 1))).toEqual([true]);
  await bench.value(
    "SELECT escapement.reap($1, lease_until) FROM escapement.executor WHERE incarnation = $1",
    [owner],
  );
  expect(await bench.complete(owner, claims.slice(1))).toEqual([false]);
});

test("a checkpoint with an old token changes nothing; the newest one is kept for the next attempt", async () => {
  const bench = await Bench.open();
  const { owner, claims } = await running(bench);
  const [claim] = claims;
  expect(await saveCheckpoint(bench.db, owner, claim!, "10", 10)).toBe(true);
  expect(
    await saveCheckpoint(bench.db, owner, { ...claim!, fenceToken: claim!.fenceToken - 1 }, "5", 5),
  ).toBe(false);
  await bench.complete(owner, [claim!], "retry");
  expect(await saveCheckpoint(bench.db, owner, claim!, "11", 11)).toBe(false);
  expect(await bench.value("SELECT data FROM escapement.shard_checkpoint")).toBe("10");
});

test("freezing keys needs the claim of the freezing step", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("frozen", { shards: { by: "frozen", count: 2, freeze: ["true"] } }));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const owner = await bench.executor();
  const [claim] = await bench.claim(owner);
  expect(claim!.shardNo).toBe(-1);
  const keysOf = async () =>
    (await Promise.all([0, 1].map((shardNo) => frozenKeysOf(bench.db, { ...claim!, shardNo }))))
      .flat()
      .sort();
  expect(await freezeKeys(bench.db, owner, { ...claim!, fenceToken: claim!.fenceToken - 1 }, 2, ["x"])).toBe(
    false,
  );
  expect(await freezeKeys(bench.db, randomUUID(), claim!, 2, ["x"])).toBe(false);
  expect(await keysOf()).toEqual([]);
  expect(await freezeKeys(bench.db, owner, claim!, 2, ["a", "b", "c"])).toBe(true);
  expect(await freezeKeys(bench.db, owner, claim!, 2, ["b", "c", "d"])).toBe(true);
  expect(await keysOf()).toEqual(["b", "c", "d"]);
  await bench.complete(owner, [claim!]);
  expect(await freezeKeys(bench.db, owner, claim!, 2, ["z"])).toBe(false);
  expect(await keysOf()).toEqual(["b", "c", "d"]);
});

test("freezing keys under an ended lease is refused", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("frozen", { shards: { by: "frozen", count: 2, freeze: ["true"] } }));
  await bench.plan(job, [await bench.at(-1_000)]);
  await openDue(bench.db);
  const owner = await bench.executor();
  const [claim] = await bench.claim(owner);
  await bench.expire(owner);
  expect(await freezeKeys(bench.db, owner, claim!, 2, ["x"])).toBe(false);
  expect(await bench.staleWrites()).toEqual(["freeze"]);
});

test("a renewed lease is not reaped, and of many reapers one puts the shards back", async () => {
  const bench = await Bench.open();
  const { owner } = await running(bench);
  await bench.expire(owner);
  const seen = await bench.value<Date>("SELECT lease_until FROM escapement.executor WHERE incarnation = $1", [
    owner,
  ]);
  await bench.db.query(
    "UPDATE escapement.executor SET lease_until = lease_until + interval '0.5 second' WHERE incarnation = $1",
    [owner],
  );
  expect(await reapExecutor(bench.db, owner, seen)).toBeNull();
  const again = await bench.value<Date>(
    "SELECT lease_until FROM escapement.executor WHERE incarnation = $1",
    [owner],
  );
  const reaped = await Promise.all(Array.from({ length: 6 }, () => reapExecutor(bench.db, owner, again)));
  expect(reaped.filter((count) => count !== null)).toEqual([2]);
  expect(
    await bench.value("SELECT count(*)::int FROM escapement.shard_attempt WHERE outcome = 'lease-expired'"),
  ).toBe(2);
});

test("a living executor is not reaped", async () => {
  const bench = await Bench.open();
  const { owner } = await running(bench);
  const until = await bench.value<Date>(
    "SELECT lease_until FROM escapement.executor WHERE incarnation = $1",
    [owner],
  );
  expect(await reapExecutor(bench.db, owner, until)).toBeNull();
});

test("taking over needs the same host and boot, and another incarnation", async () => {
  const bench = await Bench.open();
  const { owner } = await running(bench);
  const elsewhere = await bench.executor({ host: "other" });
  const rebooted = await bench.executor({ bootId: "other" });
  expect(await takeOver(bench.db, elsewhere, owner)).toBeNull();
  expect(await takeOver(bench.db, rebooted, owner)).toBeNull();
  expect(await takeOver(bench.db, owner, owner)).toBeNull();
  expect(await takeOver(bench.db, randomUUID(), owner)).toBeNull();
  const successor = await bench.executor();
  expect(await takeOver(bench.db, successor, owner)).toBe(2);
  expect(await takeOver(bench.db, successor, owner)).toBeNull();
  expect(await bench.claim(successor)).toHaveLength(2);
});

test("an executor that says goodbye with shards in its hands is still watched", async () => {
  const bench = await Bench.open();
  const { owner, claims } = await running(bench);
  await setExecutorState(bench.db, owner, "stopped");
  expect(await bench.value("SELECT state FROM escapement.executor WHERE incarnation = $1", [owner])).toBe(
    "draining",
  );
  await bench.complete(owner, claims, "interrupted");
  await setExecutorState(bench.db, owner, "stopped");
  expect(await bench.value("SELECT state FROM escapement.executor WHERE incarnation = $1", [owner])).toBe(
    "stopped",
  );
});

test("a raised store generation makes every new token greater", async () => {
  const bench = await Bench.open();
  const { owner, claims } = await running(bench);
  await bench.complete(owner, claims, "retry");
  await bench.db.query("UPDATE escapement.cluster SET generation = generation + 1");
  await bench.db.query("SELECT setval('escapement.fence_sequence', 1, false)");
  const again = await bench.claim(owner);
  expect(again).toHaveLength(2);
  expect(Math.min(...again.map((c) => c.fenceToken))).toBeGreaterThan(
    Math.max(...claims.map((c) => c.fenceToken)),
  );
});
