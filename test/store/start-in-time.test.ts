/** Opened is not started: a fire that its policy would not run late must not start late because nobody claimed it. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { Bench } from "./bench.ts";

const skip: JobDefinition["misfire"] = { policy: "skip", thresholdMs: 60_000 };

/** Lets the time for starting pass, as an hour without executors would. */
async function wait(bench: Bench): Promise<void> {
  await bench.db.query("UPDATE escapement.execution_live SET start_by = start_by - interval '1 hour'");
  await bench.db.query("UPDATE escapement.shard_live SET start_by = start_by - interval '1 hour'");
  await bench.db.query("UPDATE escapement.execution_live SET misfire_threshold_ms = 0 WHERE state = 'open'");
}

async function opened(misfire: JobDefinition["misfire"], change: Partial<JobDefinition> = {}) {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("nobody-there", { ...hashed(3), misfire, ...change }));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  expect((await openDue(bench.db)).opened).toBe(1);
  return { bench, job, fire, executor: await bench.executor() };
}

test("skip: not claimable after its time, and entered as missed with an alert", async () => {
  const { bench, job, fire, executor } = await opened(skip);
  await wait(bench);
  expect(await bench.claim(executor)).toEqual([]);
  // By now it is later than the threshold of its definition, too.
  await bench.db.query(
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{misfire,thresholdMs}', '0')`,
  );
  await openDue(bench.db);
  expect(await bench.execution(job, fire)).toMatchObject({
    status: "missed",
    reason: expect.stringContaining("misfire policy is skip"),
    actualStartTime: null,
  });
  expect(await bench.claim(executor)).toEqual([]);
  expect(await bench.value("SELECT count(*) FROM escapement.shard_live")).toBe(0);
  expect(await bench.value("SELECT count(*) FROM escapement.alert_outbox WHERE kind = 'missed'")).toBe(1);
});

test("one that has started goes on, however late its other shards are", async () => {
  const { bench, job, fire, executor } = await opened(skip);
  const first = await bench.claim(executor, { limit: 1 });
  expect(first).toHaveLength(1);
  await wait(bench);
  await openDue(bench.db);
  const rest = await bench.claim(executor);
  expect(rest).toHaveLength(2);
  await bench.complete(executor, [...first, ...rest]);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("one that was interrupted has started", async () => {
  const { bench, job, fire, executor } = await opened(skip);
  const claims = await bench.claim(executor, { limit: 1 });
  await bench.complete(executor, claims, "interrupted");
  await wait(bench);
  await openDue(bench.db);
  const again = await bench.claim(executor);
  expect(again).toHaveLength(3);
  await bench.complete(executor, again);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("run-now starts however late", async () => {
  const { bench, job, fire, executor } = await opened({ policy: "run-now", thresholdMs: 60_000 });
  await wait(bench);
  await openDue(bench.db);
  await bench.complete(executor, await bench.claim(executor));
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
});

test("within-window: what is taken back but still in its window runs, as a misfire", async () => {
  const { bench, job, fire, executor } = await opened({
    policy: "within-window",
    thresholdMs: 60_000,
    windowMs: 3_600_000,
  });
  await wait(bench);
  await bench.db.query(
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{misfire,thresholdMs}', '0')`,
  );
  await openDue(bench.db);
  await bench.complete(executor, await bench.claim(executor, { catchUp: true }));
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success", triggerType: "misfire" });
});

test("a claim and the taking back do not pass each other", async () => {
  const { bench, job, fire, executor } = await opened(skip);
  await wait(bench);
  await bench.db.query("UPDATE escapement.shard_live SET start_by = clock_timestamp() + interval '1 hour'");
  await Promise.all([openDue(bench.db), bench.claim(executor), openDue(bench.db), bench.claim(executor)]);
  const execution = await bench.execution(job, fire);
  const held = await bench.value<number>(
    "SELECT count(*) FROM escapement.shard_live WHERE owner IS NOT NULL",
  );
  // Either it was claimed and runs, or it was taken back and nobody holds any of it.
  expect(held === 3 ? execution?.status : `${execution?.status} ${held}`).toMatch(
    /^running$|^(planned|pending) 0$/,
  );
});
