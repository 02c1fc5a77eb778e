/** What happens to a planned execution when its time has come: each blocking and misfire policy, end to end. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench, deed } from "./bench.ts";

const queue = (maxQueued: number): Partial<JobDefinition> => ({ blocking: { policy: "queue", maxQueued } });
const blocking = (policy: "forbid" | "replace" | "allow"): Partial<JobDefinition> => ({
  blocking: { policy },
});
const late = (misfire: JobDefinition["misfire"]): Partial<JobDefinition> => ({ misfire });

async function fires(bench: Bench, ...offsetsMs: number[]): Promise<Date[]> {
  return Promise.all(offsetsMs.map((offset) => bench.at(offset)));
}

test("nothing opens before its time by the database's clock", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("early"));
  await bench.plan(job, await fires(bench, 3_600_000));
  const result = await openDue(bench.db);
  expect(result.opened).toBe(0);
  expect(result.nextDueInMs).toBeGreaterThan(3_500_000);
  expect(await bench.live(job)).toEqual(["planned"]);
});

test("queue: one runs, the rest waits in order, more than maxQueued are blocked with the reason", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("line", queue(2)));
  const due = await fires(bench, -8_000, -6_000, -4_000, -2_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "held", "held"]);
  expect(await bench.execution(job, due[3]!)).toMatchObject({
    status: "blocked",
    reason: expect.stringContaining("at most 2"),
  });
  const executor = await bench.executor();
  const order = [];
  for (let i = 0; i < 3; i += 1) order.push(...(await bench.work(executor)));
  expect(order).toEqual(due.slice(0, 3));
  expect(await bench.statuses(job)).toEqual(["success", "success", "success", "blocked"]);
});

test("queue: what waited longer than the misfire threshold is not a misfire", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("patient", { ...queue(5), ...late({ policy: "skip", thresholdMs: 60_000 }) }),
  );
  const due = await fires(bench, -4_000, -2_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  await bench.db.query(
    "UPDATE escapement.execution_live SET misfire_threshold_ms = 0, due_at = due_at - interval '1 hour' WHERE state = 'held'",
  );
  const executor = await bench.executor();
  expect([...(await bench.work(executor)), ...(await bench.work(executor))]).toEqual(due);
  expect(await bench.statuses(job)).toEqual(["success", "success"]);
});

test("queue: a failure lets the next one go, too", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("line", queue(2)));
  await bench.plan(job, await fires(bench, -8_000, -6_000));
  const executor = await bench.executor();
  await bench.work(executor, "failed");
  await bench.work(executor);
  expect(await bench.statuses(job)).toEqual(["failed", "success"]);
});

test("queue: cancelling what waits leaves the others in line", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("line", queue(5)));
  const due = await fires(bench, -8_000, -6_000, -4_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  await cancelExecution(bench.db, job, due[1]!, deed);
  const executor = await bench.executor();
  await bench.work(executor);
  await bench.work(executor);
  expect(await bench.statuses(job)).toEqual(["success", "cancelled", "success"]);
});

test("forbid: the one that comes due while another runs is recorded, with the reason", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("alone", { ...blocking("forbid"), ...hashed(2) }));
  const due = await fires(bench, -4_000, -2_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open"]);
  const row = await bench.execution(job, due[1]!);
  expect(row).toMatchObject({ status: "blocked", reason: expect.stringContaining("forbid") });
  expect(row!.reason).toContain(due[0]!.toISOString().slice(0, 19));
  expect(await bench.shards(job, due[1]!)).toEqual([]);
});

test("forbid: the period of a blocked fire is free again", async () => {
  const bench = await Bench.open();
  const period = { period: { unit: "day", offset: 0 } } as const;
  const job = await bench.apply(testJob("alone", { ...blocking("forbid"), ...period }));
  const [first, second] = await fires(bench, -4_000, -2_000);
  await bench.plan(job, [first!], { periodKey: "2026-07-01" });
  await bench.plan(job, [second!], { periodKey: "2026-07-02" });
  await openDue(bench.db);
  expect(await bench.execution(job, second!)).toMatchObject({ status: "blocked", periodKey: null });
  const { rows } = await bench.db.query("SELECT period_key FROM escapement.job_period");
  expect(rows).toEqual([{ period_key: "2026-07-01" }]);
});

test("allow: all run side by side", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("crowd", blocking("allow")));
  await bench.plan(job, await fires(bench, -6_000, -4_000, -2_000));
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "open", "open"]);
});

test("replace: what runs is asked to stop, and the new one opens only at its end", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("latest", { ...blocking("replace"), ...hashed(3) }));
  const [old, fresh] = await fires(bench, -4_000, -2_000);
  await bench.plan(job, [old!]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const running = await bench.claim(executor, { limit: 2 });
  await bench.plan(job, [fresh!]);
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "held"]);
  expect(await bench.claim(executor)).toEqual([]);
  expect(
    await bench.value(
      "SELECT count(*)::int FROM escapement.shard_live WHERE cancel_requested AND owner = $1",
      [executor],
    ),
  ).toBe(2);
  // One had finished already, the other is killed.
  await bench.complete(executor, running.slice(0, 1));
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "held"]);
  await bench.complete(executor, running.slice(1), "cancelled");
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open"]);
  expect(await bench.execution(job, old!)).toMatchObject({
    status: "cancelled",
    reason: expect.stringContaining("replaced by"),
  });
  expect((await bench.shards(job, old!)).map((shard) => shard.status)).toEqual([
    "success",
    "cancelled",
    "cancelled",
  ]);
  await bench.work(executor);
  expect(await bench.statuses(job)).toEqual(["cancelled", "success"]);
});

test("replace: what is not running ends at once, and the new one opens at once", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("latest", blocking("replace")));
  await bench.plan(job, await fires(bench, -6_000, -4_000, -2_000));
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open"]);
  expect(await bench.statuses(job)).toEqual(["cancelled", "cancelled", "pending"]);
});

test.each(["retry", "interrupted"] as const)(
  "a shard that was asked to cancel is not run again after %s",
  async (outcome) => {
    const bench = await Bench.open();
    const job = await bench.apply(testJob("latest", blocking("replace")));
    const [old, fresh] = await fires(bench, -4_000, -2_000);
    await bench.plan(job, [old!]);
    await openDue(bench.db);
    const executor = await bench.executor();
    const running = await bench.claim(executor);
    await bench.plan(job, [fresh!]);
    await openDue(bench.db);
    await bench.complete(executor, running, outcome);
    expect(await bench.execution(job, old!)).toMatchObject({ status: "cancelled" });
    expect(await bench.work(executor)).toEqual([fresh]);
  },
);

test("replace: the executor of the old one dies: the new one goes on", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("latest", blocking("replace")));
  const [old, fresh] = await fires(bench, -4_000, -2_000);
  await bench.plan(job, [old!]);
  await openDue(bench.db);
  const dead = await bench.executor();
  await bench.claim(dead);
  await bench.plan(job, [fresh!]);
  await openDue(bench.db);
  await bench.expire(dead);
  await bench.value(
    "SELECT escapement.reap(incarnation, lease_until) FROM escapement.executor WHERE incarnation = $1",
    [dead],
  );
  expect(await bench.execution(job, old!)).toMatchObject({ status: "cancelled" });
  expect(await bench.work(await bench.executor())).toEqual([fresh]);
});
