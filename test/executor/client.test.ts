/** The library for authors of jobs, talking to a real executor in the name of a real attempt. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { currentAttempt, ExecutorLine } from "../../src/executor/client.ts";
import { until } from "../support/until.ts";
import { Workshop } from "./workshop.ts";

/** Starts a job that waits for the file `go`; returns what it was given as its environment. */
async function waitingAttempt(workshop: Workshop) {
  await workshop.job(
    "waiting",
    `env > ${workshop.path("env.new")}; mv ${workshop.path("env.new")} ${workshop.path("env")}
     while [ ! -e ${workshop.path("go")} ]; do sleep 0.05; done`,
    {
      shards: { by: "keys", count: 1, keys: ["a", "b"], heavy: [] },
      period: { unit: "month", offset: 0 },
    },
  );
  const run = await workshop.run("waiting", { period: "2026-07" });
  const lines = await until(() => workshop.lines("env").length > 0 && workshop.lines("env"), {
    what: "its environment",
  });
  const environment = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  return { run, environment };
}

test("an attempt knows who it is, keeps its place, and learns that it is not the holder any more", async () => {
  const workshop = await Workshop.open();
  await workshop.executor();
  const { run, environment } = await waitingAttempt(workshop);
  const [shard] = await workshop.shards(run);
  const { executionId } = await workshop.execution(run);
  expect(currentAttempt(environment)).toEqual({
    job: "default/waiting",
    fireTime: run.fireTime,
    period: "2026-07",
    shardNo: 0,
    shardCount: 1,
    attempt: 1,
    fenceToken: BigInt(shard!.fenceToken!),
    executionId,
    runNo: 1,
    idempotencyKey: "default/waiting/2026-07",
    timeZone: "UTC",
  });
  const line = await ExecutorLine.open(environment);
  expect(await line.keys()).toEqual(["a", "b"]);
  expect(await line.readCheckpoint()).toEqual({ place: null, rows: null });
  // Several at once are answered in order.
  const answers = await Promise.all([
    line.rows(5),
    line.checkpoint("place 1", 6),
    line.readCheckpoint(),
    line.checkpoint("place 2"),
    line.readCheckpoint(),
    line.holding(),
  ]);
  expect(answers).toEqual([
    undefined,
    true,
    { place: "place 1", rows: 6 },
    true,
    { place: "place 2", rows: 6 },
    true,
  ]);
  await workshop.db.query("UPDATE escapement.shard_live SET owner = gen_random_uuid()");
  expect(await line.holding()).toBe(false);
  expect(await line.checkpoint("place 3")).toBe(false);
  expect(await workshop.staleWrites()).toEqual(["checkpoint"]);
  // The child is killed, and the line to its executor has no attempt behind it any more.
  await until(
    () =>
      ExecutorLine.open(environment).then(
        () => false,
        () => true,
      ),
    { what: "the end" },
  );
});

test("rows of the last report are recorded, and nothing is asked of an executor that is gone", async () => {
  const workshop = await Workshop.open();
  const executor = await workshop.executor();
  const { run, environment } = await waitingAttempt(workshop);
  const line = await ExecutorLine.open(environment);
  await line.rows(10);
  await line.rows(7);
  writeFileSync(workshop.path("go"), "");
  await workshop.ended(run);
  expect((await workshop.shards(run))[0]!.rows).toBe(7);
  executor.kill("SIGKILL");
  await executor.exited;
  await expect(line.rows(8)).rejects.toMatchObject({ code: "E_UNAVAILABLE" });
});

test("outside of an attempt it says so", async () => {
  expect(() => currentAttempt({})).toThrow(/ESCAPEMENT_JOB is not set: this is not an attempt of a job/);
  await expect(ExecutorLine.open({})).rejects.toMatchObject({ code: "E_UNAVAILABLE" });
});
