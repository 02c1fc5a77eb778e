/** States of executions and shards, the retry cap, the freezing step, and running again by hand. */
import { expect, test } from "vitest";
import type { JobRow } from "../../src/store/job.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { rerun } from "../../src/store/manual-rerun.ts";
import { openDue } from "../../src/store/opening.ts";
import { listAttempts } from "../../src/store/shard.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

const frozen = { shards: { by: "frozen", count: 2, freeze: ["true"] } } as const;

async function started(change = {}): Promise<{ bench: Bench; job: JobRow; fire: Date; executor: string }> {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("states", change));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  return { bench, job, fire, executor: await bench.executor() };
}

const shardStates = async (bench: Bench, job: JobRow, fire: Date) =>
  (await bench.shards(job, fire)).map((shard) => shard.status);

test("planned, pending, running, success: each written when it is so", async () => {
  const { bench, job, fire, executor } = await started(hashed(2));
  const id = (await bench.execution(job, fire))!.executionId;
  expect(await bench.execution(job, fire)).toMatchObject({ status: "pending", actualStartTime: null });
  const [first, second] = await bench.claim(executor);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running", actualEndTime: null });
  await bench.complete(executor, [first!]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running" });
  await bench.complete(executor, [second!]);
  const row = (await bench.execution(job, fire))!;
  expect(row).toMatchObject({ status: "success", executionId: id, runNo: 1, reason: null });
  expect(row.durationMs).toBeGreaterThanOrEqual(0);
  expect(row.missedSeconds).toBeGreaterThanOrEqual(1);
});

test("interrupted does not count towards the cap, an ended lease and a failure do", async () => {
  const { bench, job, fire, executor } = await started();
  for (let i = 1; i <= 5; i += 1) {
    const [claim] = await bench.claim(executor);
    expect(claim).toMatchObject({ attempt: i, tries: 1 });
    await bench.complete(executor, [claim!], "interrupted");
    expect(await bench.execution(job, fire)).toMatchObject({ status: "interrupted" });
    expect(await shardStates(bench, job, fire)).toEqual(["interrupted"]);
  }
  const dying = await bench.executor();
  expect(await bench.claim(dying)).toMatchObject([{ attempt: 6, tries: 1 }]);
  await bench.expire(dying);
  await bench.value(
    "SELECT escapement.reap($1, lease_until) FROM escapement.executor WHERE incarnation = $1",
    [dying],
  );
  const [second] = await bench.claim(executor);
  expect(second).toMatchObject({ attempt: 7, tries: 2, maxTries: 3 });
  await bench.complete(executor, [second!], "retry", "exit 1");
  const last = await bench.executor();
  expect(await bench.claim(last)).toMatchObject([{ attempt: 8, tries: 3 }]);
  await bench.expire(last);
  await bench.value(
    "SELECT escapement.reap($1, lease_until) FROM escapement.executor WHERE incarnation = $1",
    [last],
  );
  expect(await bench.execution(job, fire)).toMatchObject({ status: "failed", reason: "1 shard(s) failed" });
  expect((await listAttempts(bench.db, job.jobId, fire)).map((attempt) => attempt.outcome)).toEqual([
    ...Array.from({ length: 5 }, () => "interrupted"),
    "lease-expired",
    "retry",
    "failed",
  ]);
  const { rows } = await bench.db.query("SELECT kind, severity FROM escapement.alert_outbox");
  expect(rows).toEqual([{ kind: "shard-failed", severity: "critical" }]);
});

test("the store keeps the cap, even when an executor asks for one more try", async () => {
  const { bench, job, fire, executor } = await started();
  for (let i = 1; i <= 3; i += 1) {
    const claims = await bench.claim(executor);
    expect(claims).toHaveLength(1);
    await bench.complete(executor, claims, "retry", "exit 1");
  }
  expect(await bench.claim(executor)).toEqual([]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "failed" });
});

test("one failed shard fails the execution, but only when the others have ended", async () => {
  const { bench, job, fire, executor } = await started(hashed(3));
  const claims = await bench.claim(executor);
  await bench.complete(executor, claims.slice(0, 1), "failed", "boom");
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running" });
  await bench.complete(executor, claims.slice(1));
  expect(await bench.execution(job, fire)).toMatchObject({ status: "failed" });
});

test("a rerun leaves success alone, keeps the execution_id, numbers attempts on, and can end well", async () => {
  const { bench, job, fire, executor } = await started(hashed(3));
  const claims = await bench.claim(executor);
  await bench.complete(executor, claims.slice(0, 2), "failed");
  await bench.complete(executor, claims.slice(2));
  const before = (await bench.execution(job, fire))!;
  expect(await rerun(bench.db, job, fire, {}, deed)).toEqual({ runNo: 2, shards: 2 });
  await openDue(bench.db);
  const again = await bench.claim(executor);
  expect(again.map((claim) => [claim.attempt, claim.tries])).toEqual([
    [2, 1],
    [2, 1],
  ]);
  expect(again.map((claim) => claim.shardNo)).not.toContain(claims[2]!.shardNo);
  await bench.complete(executor, again);
  expect(await bench.execution(job, fire)).toMatchObject({
    status: "success",
    runNo: 2,
    executionId: before.executionId,
  });
  await expect(rerun(bench.db, job, fire, {}, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
});

test("rerun --shard and --failed: what stays behind still counts", async () => {
  const { bench, job, fire, executor } = await started(hashed(3));
  const claims = (await bench.claim(executor)).sort((a, b) => a.shardNo - b.shardNo);
  await bench.complete(executor, claims.slice(0, 2), "failed");
  await bench.complete(executor, claims.slice(2));
  await rerun(bench.db, job, fire, { shard: 0 }, deed);
  await bench.work(executor);
  expect(await shardStates(bench, job, fire)).toEqual(["success", "failed", "success"]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "failed", runNo: 2 });
  await expect(rerun(bench.db, job, fire, { shard: 2 }, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  expect(await bench.execution(job, fire)).toMatchObject({ runNo: 2 });
  await rerun(bench.db, job, fire, { failed: true }, deed);
  await bench.work(executor);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success", runNo: 3 });
});

test("rerun --failed after a cancellation runs only what failed; the execution stays cancelled", async () => {
  const { bench, job, fire, executor } = await started(hashed(2));
  const claims = await bench.claim(executor, { limit: 1 });
  await cancelExecution(bench.db, job, fire, deed);
  await bench.complete(executor, claims, "failed");
  expect(await bench.execution(job, fire)).toMatchObject({ status: "cancelled" });
  await rerun(bench.db, job, fire, { failed: true }, deed);
  await bench.work(executor);
  expect((await shardStates(bench, job, fire)).sort()).toEqual(["cancelled", "success"]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "cancelled" });
  await rerun(bench.db, job, fire, {}, deed);
  await bench.work(executor);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success", runNo: 3 });
});

test("a running execution cannot be run again; two reruns at once make one", async () => {
  const { bench, job, fire, executor } = await started();
  await expect(rerun(bench.db, job, fire, {}, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  await bench.complete(executor, await bench.claim(executor), "failed");
  const reruns = await Promise.allSettled([1, 2, 3, 4].map(() => rerun(bench.db, job, fire, {}, deed)));
  expect(reruns.filter((one) => one.status === "fulfilled")).toHaveLength(1);
  await bench.work(executor);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success", runNo: 2 });
});

test("a missed and a blocked execution can be run again, as the same execution", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("gaps", {
      misfire: { policy: "skip", thresholdMs: 20_000 },
      blocking: { policy: "forbid" },
      ...hashed(2),
    }),
  );
  const [missed, running, blocked] = await Promise.all([-60_000, -4_000, -2_000].map((ms) => bench.at(ms)));
  await bench.plan(job, [missed!, running!, blocked!]);
  await openDue(bench.db);
  expect(await bench.statuses(job)).toEqual(["missed", "pending", "blocked"]);
  const executor = await bench.executor();
  await bench.work(executor);
  for (const fire of [missed!, blocked!]) {
    const before = (await bench.execution(job, fire))!;
    await rerun(bench.db, job, fire, {}, deed);
    await bench.work(executor);
    expect(await bench.execution(job, fire)).toMatchObject({
      status: "success",
      runNo: 2,
      executionId: before.executionId,
      shardCount: 2,
    });
  }
});

test("the freezing step runs alone and first; the shards start with its success", async () => {
  const { bench, job, fire, executor } = await started(frozen);
  const [freezing, ...more] = await bench.claim(executor);
  expect(freezing!.shardNo).toBe(-1);
  expect(more).toEqual([]);
  await bench.complete(executor, [freezing!]);
  expect((await bench.claim(executor)).map((claim) => claim.shardNo).sort()).toEqual([0, 1]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running" });
});

test("a freezing step that failed ends the execution; a rerun freezes again and runs all", async () => {
  const { bench, job, fire, executor } = await started(frozen);
  await bench.complete(executor, await bench.claim(executor), "failed", "no input");
  expect(await bench.execution(job, fire)).toMatchObject({ status: "failed" });
  expect(await bench.claim(executor)).toEqual([]);
  await rerun(bench.db, job, fire, { shard: 1 }, deed);
  await bench.work(executor);
  await bench.work(executor);
  expect(await shardStates(bench, job, fire)).toEqual(["success", "success", "success"]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("a cancelled freezing step that finished all the same does not start the shards", async () => {
  const { bench, job, fire, executor } = await started(frozen);
  const claims = await bench.claim(executor);
  await cancelExecution(bench.db, job, fire, deed);
  await bench.complete(executor, claims, "success");
  expect(await bench.claim(executor)).toEqual([]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "cancelled" });
  expect(await bench.live(job)).toEqual([]);
});

test("after a successful freeze a rerun does not freeze again", async () => {
  const { bench, job, fire, executor } = await started(frozen);
  await bench.work(executor);
  const claims = await bench.claim(executor);
  await bench.complete(executor, claims, "failed");
  await rerun(bench.db, job, fire, {}, deed);
  await openDue(bench.db);
  expect((await bench.claim(executor)).map((claim) => claim.shardNo).sort()).toEqual([0, 1]);
});

test("cancelling: what is pending ends at once, what has ended is refused, a planned one never opens", async () => {
  const { bench, job, fire } = await started(hashed(3));
  await cancelExecution(bench.db, job, fire, deed);
  expect(await bench.execution(job, fire)).toMatchObject({
    status: "cancelled",
    reason: "cancelled by tester: because",
  });
  await expect(cancelExecution(bench.db, job, fire, deed)).rejects.toMatchObject({ code: "E_REFUSED" });
  const planned = await bench.at(600_000);
  await bench.plan(job, [planned]);
  await cancelExecution(bench.db, job, planned, deed);
  expect(await bench.live(job)).toEqual([]);
  expect(await bench.execution(job, planned)).toMatchObject({ status: "cancelled" });
});
