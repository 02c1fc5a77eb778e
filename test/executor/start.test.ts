/** Starting: settings, schema, HTTP; and the whole of it behind a pooler. */
import { expect, inject, onTestFinished, test } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { findPgbouncer, startPgbouncer } from "../../src/lab/pgbouncer.ts";
import { runEscapement } from "../support/processes.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { Workshop } from "./workshop.ts";

test("health, readiness and metrics", async () => {
  const port = await freePort();
  const workshop = await Workshop.open({ http: { address: "127.0.0.1", port } });
  const executor = await workshop.executor();
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await get("/healthz")).toEqual({ status: 200, text: "ok\n" });
  await until(async () => (await get("/readyz")).status === 200, { what: "readiness" });
  await workshop.job("deaf", "trap '' TERM; while :; do sleep 0.1; done", {
    resources: { class: "io", peakMemoryBytes: 1 },
  });
  await workshop.job("quick", "exit 0");
  await workshop.ended(await workshop.run("quick"));
  await workshop.run("deaf");
  const metrics = await until(
    async () => {
      const { text } = await get("/metrics");
      const started = text.includes("escapement_executor_start_delay_seconds_count 2");
      return started && text.includes('escapement_executor_running{class="io"} 1') && text;
    },
    { what: "the running one in the metrics" },
  );
  expect(metrics).toMatch(/^escapement_executor_ends_total\{outcome="success"\} 1$/m);
  expect(metrics).toMatch(/^escapement_executor_claims_total\{class="cpu"\} 1$/m);
  expect(metrics).toMatch(/^escapement_executor_slots\{class="memory"\} 2$/m);
  expect(metrics).toMatch(/^escapement_executor_refused_writes_total 0$/m);
  expect(metrics).toMatch(/^escapement_executor_lease_trusted_seconds [0-9.]+$/m);
  expect(metrics).toMatch(/^escapement_executor_start_delay_seconds_count 2$/m);
  expect((await get("/")).status).toBe(404);
  executor.kill("SIGTERM");
  expect(
    await until(async () => (await get("/readyz")).text.includes("draining"), { what: "draining" }),
  ).toBe(true);
});

test("a store without the schema, an unknown node and a missing file are refused with a reason", async () => {
  const workshop = await Workshop.open();
  const args = ["executor", "--cluster", workshop.clusterFile];
  const unknown = await runEscapement([...args, "--node", "nobody"]);
  expect(unknown).toMatchObject({ code: 64, stderr: expect.stringContaining("worker-1") });
  expect(await runEscapement(["executor", "--cluster", workshop.path("none.yaml")])).toMatchObject({
    code: 65,
  });
  await workshop.db.query("DROP SCHEMA escapement CASCADE");
  const empty = await runEscapement(args);
  expect(empty).toMatchObject({ code: 4, stderr: expect.stringContaining("E_STORE_NOT_MIGRATED") });
});

test.skipIf(unavailable("pgbouncer", findPgbouncer() !== undefined))(
  "everything works through pgbouncer in transaction mode",
  async () => {
    const pooler = await startPgbouncer({ serverUrl: inject("postgresUrl") });
    onTestFinished(() => pooler.stop());
    const workshop = await Workshop.open({ storeUrl: (url) => pooler.through(url) });
    const executor = await workshop.executor();
    await workshop.job("pooled", "exit 0", {
      shards: { by: "frozen", count: 20, freeze: ["seq", "1", "100"] },
    });
    const run = await workshop.run("pooled");
    await workshop.ended(run);
    expect(await workshop.attempts(run)).toEqual([]);
    executor.kill("SIGTERM");
    expect(await executor.exited).toEqual({ code: 0, signal: null });
  },
);
