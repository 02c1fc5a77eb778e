/** A claimed shard becomes a process, and its end a record. */
import { expect, test } from "vitest";
import { Workshop } from "./workshop.ts";

test("a job runs, with the environment of the design and nothing of the executor's own", async () => {
  const workshop = await Workshop.open();
  await workshop.job(
    "hello",
    `env > ${workshop.path("env")}; pwd >> ${workshop.path("cwd")}; echo out; echo err >&2`,
    {
      environment: { COLOUR: "green", PATH: "/usr/bin:/bin" },
      timeZone: "Asia/Shanghai",
      shards: { by: "hash", count: 1, key: "supplier", heavy: [] },
    },
  );
  const secret = "postgres://someone:secret@127.0.0.1:1/store";
  await workshop.executor({
    environment: { ESCAPEMENT_STORE_URL: secret, PGPASSWORD: "secret", LANG: "C.UTF-8" },
  });
  const run = await workshop.run("hello");
  const execution = await workshop.ended(run);
  const [shard] = await workshop.shards(run);
  const environment = Object.fromEntries(
    workshop
      .lines("env")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const {
    ESCAPEMENT_SOCKET: socket,
    ESCAPEMENT_INCARNATION: incarnation,
    HOME: _home,
    ...others
  } = environment;
  expect(others).toEqual({
    ESCAPEMENT_JOB: "default/hello",
    ESCAPEMENT_FIRE_TIME: run.fireTime.toISOString(),
    ESCAPEMENT_SHARD_NO: "0",
    ESCAPEMENT_SHARD_COUNT: "1",
    ESCAPEMENT_HASH_SHARDS: "1",
    ESCAPEMENT_HEAVY_KEYS: "[]",
    ESCAPEMENT_ATTEMPT: "1",
    ESCAPEMENT_FENCE_TOKEN: String(shard!.fenceToken),
    ESCAPEMENT_EXECUTION_ID: execution.executionId,
    ESCAPEMENT_RUN_NO: "1",
    ESCAPEMENT_IDEMPOTENCY_KEY: `default/hello/${run.fireTime.toISOString()}`,
    ESCAPEMENT_TIME_ZONE: "Asia/Shanghai",
    TZ: "UTC",
    COLOUR: "green",
    PATH: "/usr/bin:/bin",
    LANG: "C.UTF-8",
    PWD: workshop.lines("cwd")[0],
  });
  expect(socket).toMatch(/^\/.{1,98}\?token=[\w-]{24}$/);
  expect(incarnation).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(environment)).not.toMatch(/secret|postgres/i);
  const log = workshop.jobLog("hello");
  expect(log).toMatch(/ shard=0 attempt=1 out \| out$/m);
  expect(log).toMatch(/ shard=0 attempt=1 err \| err$/m);
});
