/** Claiming: nobody twice, never more than asked, catch-up capped exactly, and what races with it. */
import { expect, test } from "vitest";
import type { ClaimedShard } from "../../src/store/claim.ts";
import { completeAttempts } from "../../src/store/completion.ts";
import { cancelExecution } from "../../src/store/manual-cancel.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { until } from "../support/until.ts";
import { Bench, deed } from "./bench.ts";

const keyOf = (claim: ClaimedShard) => `${claim.jobId}/${claim.fireTime.getTime()}/${claim.shardNo}`;

test("eight claimers at once: no shard twice, none forgotten, never more than the limit, tokens unique", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("wide", hashed(300)));
  await bench.plan(job, [await bench.at(-2_000), await bench.at(-1_000)]);
  await openDue(bench.db);
  const claimers = await Promise.all(Array.from({ length: 8 }, () => bench.executor()));
  const claimed: ClaimedShard[] = [];
  await Promise.all(
    claimers.map(async (incarnation) => {
      for (;;) {
        const batch = await bench.claim(incarnation, { limit: 17 });
        expect(batch.length).toBeLessThanOrEqual(17);
        // SKIP LOCKED may leave a moment's empty hand while others hold what is left.
        if (batch.length === 0 && claimed.length >= 600) return;
        claimed.push(...batch);
      }
    }),
  );
  expect(claimed).toHaveLength(600);
  expect(new Set(claimed.map(keyOf)).size).toBe(600);
  expect(new Set(claimed.map((claim) => claim.fenceToken)).size).toBe(600);
  expect(await bench.value("SELECT count(*)::int FROM escapement.execution WHERE status = 'running'")).toBe(
    2,
  );
});

test("what one claimer takes, and has not committed yet, another neither gets nor waits for", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("wide", hashed(10)));
  await bench.plan(job, [await bench.at(-1_000)]);
  await openDue(bench.db);
  const [slow, fast] = await Promise.all([bench.executor(), bench.executor()]);
  // Started already, so that only the shards themselves are between the two.
  await bench.claim(fast, { limit: 1 });
  const taken = await bench.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ shard_no: number }>(
      "SELECT shard_no FROM escapement.claim($1, 1::smallint, 4, false, 0.5)",
      [slow],
    );
    const others = await bench.claim(fast, { limit: 10 });
    expect(others).toHaveLength(5);
    return [...rows.map((row) => row.shard_no), ...others.map((claim) => claim.shardNo)];
  });
  expect(new Set(taken).size).toBe(9);
});

test("classes and catch-up are lanes of their own", async () => {
  const bench = await Bench.open();
  const executor = await bench.executor();
  const fire = await bench.at(-1_000);
  for (const name of ["cpu", "memory", "io"] as const) {
    const job = await bench.apply(testJob(name, { resources: { class: name, peakMemoryBytes: 1 } }));
    await bench.plan(job, [fire]);
  }
  const late = await bench.apply(testJob("late"));
  await bench.plan(late, [fire], { triggerType: "misfire" });
  await openDue(bench.db);
  for (const name of ["memory", "io", "cpu"] as const) {
    const [claim, ...more] = await bench.claim(executor, { class: name });
    expect(more).toEqual([]);
    expect(claim!.jobId).toBe((await bench.job(name)).jobId);
  }
  expect((await bench.claim(executor, { catchUp: true })).map((claim) => claim.jobId)).toEqual([late.jobId]);
});

test("catch-up never gets more than its share, by any number of claimers at once", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("late", hashed(60)));
  await bench.plan(job, [await bench.at(-1_000)], { triggerType: "misfire" });
  await openDue(bench.db);
  const slots = { cpu: 5, memory: 1, io: 1 };
  const claimers = await Promise.all(Array.from({ length: 8 }, () => bench.executor({ slots })));
  const rounds = await Promise.all(
    claimers.map((incarnation) => bench.claim(incarnation, { catchUp: true, share: 0.5, limit: 5 })),
  );
  expect(rounds.flat()).toHaveLength(20);
  const [some] = rounds.filter((round) => round.length > 0);
  const owner = claimers[rounds.indexOf(some!)]!;
  expect(await bench.complete(owner, some!.slice(0, 1))).toEqual([true]);
  const next = await Promise.all(
    claimers.map((one) => bench.claim(one, { catchUp: true, share: 0.5, limit: 5 })),
  );
  expect(next.flat()).toHaveLength(1);
});

test("dead executors' slots do not count for catch-up, and a lone small executor gets one", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("late", hashed(30)));
  await bench.plan(job, [await bench.at(-1_000)], { triggerType: "misfire" });
  await openDue(bench.db);
  const dead = await bench.executor({ slots: { cpu: 1_000, memory: 1, io: 1 } });
  await bench.expire(dead);
  const alive = await bench.executor({ slots: { cpu: 1, memory: 1, io: 1 } });
  expect(await bench.claim(alive, { catchUp: true, share: 0.5 })).toHaveLength(1);
});

test("an executor whose lease has ended, that drains or was reaped cannot claim", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("waiting"));
  await bench.plan(job, [await bench.at(-1_000)]);
  await openDue(bench.db);
  const executor = await bench.executor();
  for (const state of ["draining", "stopped", "reaped"]) {
    await bench.db.query("UPDATE escapement.executor SET state = $1", [state]);
    await expect(bench.claim(executor)).rejects.toMatchObject({ code: "E_LEASE_LOST" });
  }
  await bench.db.query("UPDATE escapement.executor SET state = 'active'");
  await bench.expire(executor);
  await expect(bench.claim(executor)).rejects.toMatchObject({ code: "E_LEASE_LOST" });
  expect(await bench.live(job)).toEqual(["open"]);
});

test("a batch with one stale outcome completes the rest", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("batch", hashed(5)));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const claims = (await bench.claim(executor)).sort((a, b) => a.shardNo - b.shardNo);
  const mixed = claims.map((claim, i) => (i === 2 ? { ...claim, fenceToken: 1 } : claim));
  expect(await bench.complete(executor, mixed)).toEqual([true, true, false, true, true]);
  expect((await bench.shards(job, fire)).map((shard) => shard.status)).toEqual([
    "success",
    "success",
    "running",
    "success",
    "success",
  ]);
});

test("a completion that waits behind a cancellation is not lost", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("late-cancel"));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const claims = await bench.claim(executor);
  let completed: Promise<boolean[]> | undefined;
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT escapement.cancel($1, $2, 'no')", [job.jobId, fire]);
    completed = bench.complete(executor, claims);
    await tx.query("SELECT pg_sleep(0.3)");
  });
  expect(await completed).toEqual([true]);
  expect(await bench.shards(job, fire)).toMatchObject([{ status: "success" }]);
  expect(await bench.live(job)).toEqual([]);
});

test("cancelling races with claiming and completing without a deadlock or a leftover", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("busy", hashed(4)));
  const start = (await bench.at(-100_000)).getTime();
  const due = Array.from({ length: 40 }, (_, i) => new Date(start + i * 1_000));
  await bench.plan(job, due);
  await openDue(bench.db);
  const executors = await Promise.all([1, 2, 3].map(() => bench.executor()));
  let cancelled = 0;
  await Promise.all([
    ...executors.map(async (executor) => {
      while ((await bench.live(job)).length > 0) {
        const claims = await bench.claim(executor, { limit: 7 });
        await bench.complete(executor, claims);
      }
    }),
    (async () => {
      for (const fire of due) {
        await cancelExecution(bench.db, job, fire, deed).then(
          () => {
            cancelled += 1;
          },
          (error: { code?: string }) => {
            if (error.code !== "E_REFUSED") throw error;
          },
        );
      }
    })(),
  ]);
  const statuses = await bench.statuses(job);
  expect(statuses.filter((status) => status !== "success" && status !== "cancelled")).toEqual([]);
  expect(await bench.value("SELECT count(*)::int FROM escapement.shard_live")).toBe(0);
  expect(await bench.value("SELECT count(*)::int FROM escapement.operation WHERE action = 'cancel'")).toBe(
    cancelled,
  );
});

test("a completion that has its shard and wants the execution does not meet a cancellation the other way round", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("crossing"));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const claims = await bench.claim(executor);
  let cancelling: Promise<unknown> | undefined;
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT 1 FROM escapement.shard_live FOR UPDATE");
    cancelling = cancelExecution(bench.db, job, fire, deed).catch((error: unknown) => error);
    await until(
      () =>
        bench.value<boolean>(
          "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')",
        ),
      { what: "the cancellation to wait" },
    );
    const done = claims.map((claim) => ({
      ...claim,
      outcome: "success" as const,
      delayMs: 0,
      rows: null,
      exitCode: null,
      error: null,
    }));
    expect(await completeAttempts(tx, executor, done)).toEqual([true]);
  });
  // It came too late, and says so instead of putting a deed on record that did nothing.
  expect(await cancelling).toMatchObject({ code: "E_REFUSED" });
  expect(await bench.execution(job, fire)).toMatchObject({ status: "success" });
  expect(await bench.value("SELECT count(*)::int FROM escapement.operation WHERE action = 'cancel'")).toBe(0);
});

test("cancelling waits for a claim under way and then asks its owner", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("crossing"));
  const fire = await bench.at(-1_000);
  await bench.plan(job, [fire]);
  await openDue(bench.db);
  const executor = await bench.executor();
  let cancelling: Promise<number> | undefined;
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT * FROM escapement.claim($1, 1::smallint, 10, false, 0.5)", [executor]);
    cancelling = cancelExecution(bench.db, job, fire, deed);
    await tx.query("SELECT pg_sleep(0.3)");
  });
  expect(await cancelling).toBe(1);
  expect(await bench.execution(job, fire)).toMatchObject({ status: "running" });
});
