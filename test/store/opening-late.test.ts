/** Planned executions that are late: each misfire policy, catch-up in its order, and openers side by side. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { letWaitingAskAgain, openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench } from "./bench.ts";

const queue = (maxQueued: number): Partial<JobDefinition> => ({ blocking: { policy: "queue", maxQueued } });
const blocking = (policy: "forbid" | "replace" | "allow"): Partial<JobDefinition> => ({
  blocking: { policy },
});
const late = (misfire: JobDefinition["misfire"]): Partial<JobDefinition> => ({ misfire });

async function fires(bench: Bench, ...offsetsMs: number[]): Promise<Date[]> {
  return Promise.all(offsetsMs.map((offset) => bench.at(offset)));
}

test("run-now: late fires are caught up, strictly one after the other, oldest first", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("late", late({ policy: "run-now", thresholdMs: 1_000 })));
  const due = await fires(bench, -50_000, -40_000, -30_000);
  await bench.plan(job, due);
  const executor = await bench.executor();
  await openDue(bench.db);
  expect(await bench.live(job)).toEqual(["open", "held", "held"]);
  expect((await bench.execution(job, due[0]!))!.triggerType).toBe("misfire");
  for (const fire of due) expect(await bench.work(executor)).toEqual([fire]);
  expect(await bench.statuses(job)).toEqual(["success", "success", "success"]);
  expect((await bench.execution(job, due[2]!))!.missedSeconds).toBeGreaterThan(29);
});

test("run-now: more than the cap is missed, with the reason and one alert", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("late", {
      ...late({ policy: "run-now", thresholdMs: 1_000 }),
      catchUp: { maxFires: 2, keep: "newest" },
    }),
  );
  const due = await fires(bench, -50_000, -40_000, -30_000, -20_000, -10_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  expect(await bench.statuses(job)).toEqual(["missed", "missed", "missed", "pending", "planned"]);
  expect((await bench.execution(job, due[0]!))!.reason).toContain("capped at 2");
  const { rows } = await bench.db.query("SELECT kind, details FROM escapement.alert_outbox");
  expect(rows).toEqual([{ kind: "missed", details: { count: 3, last: due[2]!.toISOString() } }]);
});

test("skip: late fires are missed rows with an alert; one on time still opens", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("late", late({ policy: "skip", thresholdMs: 20_000 })));
  const due = await fires(bench, -50_000, -40_000, -2_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  expect(await bench.statuses(job)).toEqual(["missed", "missed", "pending"]);
  expect((await bench.execution(job, due[2]!))!.triggerType).toBe("schedule");
  expect(await bench.value("SELECT count(*)::int FROM escapement.alert_outbox")).toBe(1);
});

test("within-window: what is too old is missed, what is not is caught up", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("late", late({ policy: "within-window", thresholdMs: 1_000, windowMs: 30_000 })),
  );
  const due = await fires(bench, -90_000, -60_000, -15_000, -10_000);
  await bench.plan(job, due);
  await openDue(bench.db);
  expect(await bench.statuses(job)).toEqual(["missed", "missed", "pending", "planned"]);
  expect((await bench.execution(job, due[0]!))!.reason).toContain("window");
});

test("a failure breaks the chain: the rest is missed with the reason", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(
    testJob("late", { ...late({ policy: "run-now", thresholdMs: 1_000 }), ...queue(3) }),
  );
  const due = await fires(bench, -50_000, -40_000, -30_000);
  await bench.plan(job, due, { triggerType: "misfire" });
  const executor = await bench.executor();
  await bench.work(executor);
  await bench.work(executor, "failed");
  expect(await bench.statuses(job)).toEqual(["success", "failed", "missed"]);
  expect((await bench.execution(job, due[2]!))!.reason).toContain("ended as failed");
  expect(await bench.live(job)).toEqual([]);
});

test.each(["queue", "forbid", "replace", "allow"] as const)(
  "catch-up of a job with blocking policy %s runs all its fires in order",
  async (policy) => {
    const bench = await Bench.open();
    const definition = policy === "queue" ? queue(1) : blocking(policy);
    const job = await bench.apply(
      testJob("late", { ...late({ policy: "run-now", thresholdMs: 1_000 }), ...definition }),
    );
    const due = await fires(bench, -50_000, -40_000, -30_000, -20_000);
    await bench.plan(job, due, { triggerType: "misfire" });
    const executor = await bench.executor();
    const order = [];
    for (let i = 0; i < 6; i += 1) order.push(...(await bench.work(executor)));
    expect(order).toEqual(due);
    expect(await bench.statuses(job)).toEqual(["success", "success", "success", "success"]);
  },
);

test.each([
  ["queue", ["success", "success", "success", "success"]],
  ["forbid", ["success", "success", "success", "blocked"]],
  ["replace", ["cancelled", "cancelled", "cancelled", "success"]],
  ["allow", ["success", "success", "success", "success"]],
] as const)("a regular fire in the middle of catch-up, blocking policy %s", async (policy, expected) => {
  const bench = await Bench.open();
  const definition = policy === "queue" ? queue(1) : blocking(policy);
  const job = await bench.apply(
    testJob("late", { ...late({ policy: "run-now", thresholdMs: 20_000 }), ...definition }),
  );
  const due = await fires(bench, -50_000, -40_000, -30_000);
  await bench.plan(job, due, { triggerType: "misfire" });
  await openDue(bench.db);
  await bench.plan(job, await fires(bench, -1_000));
  await openDue(bench.db);
  const executor = await bench.executor();
  for (let i = 0; i < 6; i += 1) await bench.work(executor);
  expect(await bench.statuses(job)).toEqual(expected);
  expect(await bench.live(job)).toEqual([]);
});

test("openers at once decide nothing twice and leave nothing", async () => {
  const bench = await Bench.open();
  const policies = [queue(2), blocking("forbid"), blocking("replace"), blocking("allow")];
  const jobs = await Promise.all(
    Array.from({ length: 16 }, (_, i) =>
      bench.apply(testJob(`job-${i}`, { ...policies[i % 4], ...hashed(2) })),
    ),
  );
  for (const job of jobs) await bench.plan(job, await fires(bench, -8_000, -6_000, -4_000, -2_000));
  await Promise.all(Array.from({ length: 6 }, () => openDue(bench.db)));
  await openDue(bench.db);
  for (const [i, job] of jobs.entries()) {
    expect(await bench.statuses(job)).toEqual(
      [
        ["pending", "planned", "planned", "blocked"],
        ["pending", "blocked", "blocked", "blocked"],
        ["cancelled", "cancelled", "cancelled", "pending"],
        ["pending", "pending", "pending", "pending"],
      ][i % 4],
    );
  }
  expect(await bench.value("SELECT count(*)::int FROM escapement.shard_live")).toBe((1 + 1 + 1 + 4) * 2 * 4);
});

test("a job whose row is locked is left to whoever has the lock, and nobody waits for it", async () => {
  const bench = await Bench.open();
  const [locked, free] = [await bench.apply(testJob("locked")), await bench.apply(testJob("free"))];
  for (const job of [locked, free]) await bench.plan(job, await fires(bench, -1_000));
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT 1 FROM escapement.job WHERE job_id = $1 FOR NO KEY UPDATE", [locked.jobId]);
    expect(await openDue(bench.db)).toMatchObject({ opened: 1 });
    expect(await bench.live(locked)).toEqual(["planned"]);
  });
  expect(await openDue(bench.db)).toMatchObject({ opened: 1 });
});

test("a held execution that nobody will let go is found by the sweep", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("lost", queue(2)));
  await bench.plan(job, await fires(bench, -4_000));
  await bench.db.query("UPDATE escapement.execution_live SET state = 'held', queued = true");
  expect((await openDue(bench.db)).opened).toBe(0);
  expect(await letWaitingAskAgain(bench.db)).toBe(1);
  expect((await openDue(bench.db)).opened).toBe(1);
});
