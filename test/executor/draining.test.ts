/** SIGTERM: children are asked to end, what is not finished goes back at once, and the lease is kept meanwhile. */
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { isRunning } from "./process-state.ts";
import { Workshop } from "./workshop.ts";

const started = (workshop: Workshop, count: number) =>
  until(() => workshop.lines("pids").length >= count, { what: `${count} children` });
const pid = (workshop: Workshop) => `echo $$ >> ${workshop.path("pids")}`;

test("what ends by SIGTERM is interrupted, what finishes first is a success; another executor goes on at once", async () => {
  const workshop = await Workshop.open({
    lease: "60s",
    renewEvery: "5s",
    stopEarly: "3s",
    nodes: ["worker-1", "worker-2"],
  });
  const executor = await workshop.executor();
  await workshop.job("endless", `${pid(workshop)}; sleep 60 & wait`);
  await workshop.job("tidy", `trap 'sleep 0.3; exit 0' TERM; ${pid(workshop)}; sleep 60 & wait`);
  await workshop.job("unlucky", `trap 'exit 9' TERM; ${pid(workshop)}; sleep 60 & wait`);
  const [endless, tidy, unlucky] = [
    await workshop.run("endless"),
    await workshop.run("tidy"),
    await workshop.run("unlucky"),
  ] as const;
  await started(workshop, 3);
  executor.kill("SIGTERM");
  const exit = await executor.exited;
  expect(exit).toEqual({ code: 0, signal: null });
  expect((await workshop.execution(tidy)).status).toBe("success");
  for (const run of [endless, unlucky]) {
    expect((await workshop.execution(run)).status).toBe("interrupted");
    expect((await workshop.shards(run))[0]).toMatchObject({ status: "interrupted", attempt: 1 });
  }
  expect(await workshop.attempts(endless)).toMatchObject([
    { outcome: "interrupted", exitCode: null, error: "executor stopped; killed by SIGTERM" },
  ]);
  expect(await workshop.attempts(unlucky)).toMatchObject([
    { outcome: "interrupted", exitCode: 9, error: "executor stopped; exit code 9" },
  ]);
  const { rows } = await workshop.db.query<{ state: string }>("SELECT state FROM escapement.executor");
  expect(rows).toEqual([{ state: "stopped" }]);
  await workshop.executor({ node: "worker-2" });
  await started(workshop, 5);
  // An interrupted attempt does not count as a try.
  const tries = await workshop.db.query<{ tries: number }>(
    "SELECT DISTINCT tries FROM escapement.shard_live",
  );
  expect(tries.rows).toEqual([{ tries: 1 }]);
});

test("what ignores SIGTERM is killed within the grace time, and the lease is renewed until then", async () => {
  const workshop = await Workshop.open({ lease: "2s", renewEvery: "400ms", stopEarly: "500ms", grace: "6s" });
  const executor = await workshop.executor();
  await workshop.job("deaf", `trap '' TERM; ${pid(workshop)}; while :; do sleep 0.1; done`);
  const run = await workshop.run("deaf");
  await started(workshop, 1);
  executor.kill("SIGTERM");
  await until(
    async () => {
      const { rows } = await workshop.db.query<{ state: string }>("SELECT state FROM escapement.executor");
      return rows[0]?.state === "draining";
    },
    { what: "the state draining" },
  );
  const child = Number(workshop.lines("pids")[0]);
  const begin = performance.now();
  expect(await executor.exited).toEqual({ code: 0, signal: null });
  // Longer than the lease: without renewals it would have been killed, and the write refused.
  expect(performance.now() - begin).toBeGreaterThan(2_500);
  expect(performance.now() - begin).toBeLessThan(6_000);
  expect(isRunning(child)).toBe(false);
  expect(await workshop.attempts(run)).toMatchObject([
    { outcome: "interrupted", error: "executor stopped; killed by SIGKILL" },
  ]);
  expect(await workshop.staleWrites()).toEqual([]);
});

test("a second signal ends it at once", async () => {
  const workshop = await Workshop.open({ grace: "60s" });
  const executor = await workshop.executor();
  await workshop.job("deaf", `trap '' TERM; ${pid(workshop)}; while :; do sleep 0.1; done`);
  const run = await workshop.run("deaf");
  await started(workshop, 1);
  executor.kill("SIGINT");
  await executor.seen(/"msg":"draining"/);
  executor.kill("SIGINT");
  expect(await executor.exited).toEqual({ code: 130, signal: null });
  expect(isRunning(Number(workshop.lines("pids")[0]))).toBe(false);
  expect((await workshop.execution(run)).status).toBe("interrupted");
});

test("an idle executor ends at once", async () => {
  const workshop = await Workshop.open();
  const executor = await workshop.executor();
  executor.kill("SIGTERM");
  expect(await executor.exited).toEqual({ code: 0, signal: null });
});
