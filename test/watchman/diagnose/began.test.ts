/** Executions that began and went wrong: planted through the store, each is named with its cause. */
import { expect, test } from "vitest";
import { reapExecutor } from "../../../src/store/executor.ts";
import { hashed } from "../../support/job.ts";
import { type Case, end, judgeCase, leaseOf, opened } from "./plant.ts";

const cases: readonly Case[] = [
  {
    what: "the executor's lease ended, and nobody has noticed yet",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      await bench.claim(executor);
      await bench.expire(executor);
    },
    expected: ["interrupted lease-lost"],
  },
  {
    what: "the executor was reaped, and nobody has taken the shard",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      await bench.claim(executor);
      await bench.expire(executor);
      await reapExecutor(bench.db, executor, await leaseOf(bench, executor));
    },
    expected: ["interrupted lease-lost"],
  },
  {
    what: "given back when its executor was stopped, and nobody has taken it",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const claims = await bench.claim(executor);
      await end(bench, executor, claims, {
        outcome: "interrupted",
        error: "executor stopped; killed by SIGTERM",
      });
    },
    expected: ["interrupted executor-stopped"],
  },
  {
    what: "killed by the kernel, waits for its retry",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const claims = await bench.claim(executor);
      await end(bench, executor, claims, { outcome: "retry", error: "killed by SIGKILL", delayMs: 60_000 });
    },
    expected: ["interrupted oom-kill?"],
  },
  {
    what: "exit code 137 until its tries were used up",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const claims = await bench.claim(executor);
      await end(bench, executor, claims, { outcome: "failed", exitCode: 137, error: "exit code 137" });
    },
    expected: ["interrupted oom-kill?"],
  },
  {
    what: "timed out until its tries were used up",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const claims = await bench.claim(executor);
      await end(bench, executor, claims, {
        outcome: "failed",
        error: "timed out after 1m; killed by SIGTERM",
      });
    },
    expected: ["interrupted timeout"],
  },
  {
    what: "an ordinary retry is not a failure yet",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      await end(bench, executor, await bench.claim(executor), {
        outcome: "retry",
        exitCode: 1,
        error: "exit code 1",
      });
    },
    expected: [],
  },
  {
    what: "one shard of four failed by itself",
    job: hashed(4),
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const [bad, ...good] = await bench.claim(executor);
      await end(bench, executor, good, { outcome: "success", rows: 10 });
      await end(bench, executor, [bad!], { outcome: "failed", exitCode: 3, error: "exit code 3" });
    },
    expected: ["shard-failed job-error"],
  },
  {
    what: "one shard failed at a lock",
    job: hashed(2),
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const [bad, good] = await bench.claim(executor);
      await end(bench, executor, [good!], { outcome: "success" });
      await end(bench, executor, [bad!], {
        outcome: "failed",
        exitCode: 1,
        error: "canceling statement due to lock timeout",
      });
    },
    expected: ["shard-failed lock-wait"],
  },
  {
    what: "failed after it had reported rows",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      await end(bench, executor, await bench.claim(executor), {
        outcome: "failed",
        exitCode: 1,
        error: "exit code 1",
        rows: 812,
      });
    },
    expected: ["partial job-error"],
  },
  {
    what: "killed after it had reported rows, while its siblings succeeded",
    job: hashed(2),
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const executor = await bench.executor();
      const [bad, good] = await bench.claim(executor);
      await end(bench, executor, [good!], { outcome: "success" });
      await end(bench, executor, [bad!], { outcome: "failed", error: "killed by SIGKILL", rows: 5 });
    },
    expected: ["partial+shard-failed oom-kill?"],
  },
  {
    what: "an executor without a lease wrote after another had taken over",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const first = await bench.executor();
      const claims = await bench.claim(first);
      await bench.expire(first);
      await reapExecutor(bench.db, first, await leaseOf(bench, first));
      await bench.work(await bench.executor());
      expect(await end(bench, first, claims, { outcome: "success" })).toEqual([false]);
    },
    expected: ["duplicate lease-lost"],
  },
  {
    what: "an executor that was told to stop wrote after it had given the shard back",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      const first = await bench.executor();
      const claims = await bench.claim(first);
      await end(bench, first, claims, {
        outcome: "interrupted",
        error: "executor stopped; killed by SIGTERM",
      });
      await bench.work(await bench.executor());
      await end(bench, first, claims, { outcome: "success" });
    },
    expected: ["duplicate deploy-overlap"],
  },
];

test.each(cases)("$what", judgeCase);
