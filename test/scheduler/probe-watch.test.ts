/** Probes of a drill whose controller died: the leader ends them, and only them. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ProbeWatch } from "../../src/scheduler/probe-watch.ts";
import { digest } from "../../src/spec/digest.ts";
import type { Database } from "../../src/store/database.ts";
import { abandonedProbes, removeAbandonedProbes } from "../../src/store/drill/abandoned-probes.ts";
import { beginDrillRun, renewDrillRun } from "../../src/store/drill/drill-run.ts";
import { applyProbe, liveProbes } from "../../src/store/drill/probe-job.ts";
import { listJobs } from "../../src/store/job.ts";
import { Bench, deed } from "../store/bench.ts";
import { testJob } from "../support/job.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} };
const controller = "laptop:1";
const run = {
  ...{ runId: randomUUID(), drill: "kill-executor", class: "executor-killed", digest: "0".repeat(64) },
  ...{ person: "sam", trigger: "manual" as const, version: "1.0.0", controller, targets: [] },
};
const names = async (db: Database) =>
  (await listJobs(db)).filter(({ state }) => state !== "deleted").map(({ name }) => name);

/** Two probes and a job of somebody else; the leader sees them by its own role. */
async function scene(lease: "alive" | "over" | "no run") {
  const owner = await Bench.open();
  for (const name of ["probe-1", "probe-2"]) {
    const job = { ...testJob(name, { schedule: { kind: "every", everyMs: 5_000 } }), namespace: "drill" };
    await applyProbe(owner.db, job, digest(job), deed);
  }
  await owner.apply(testJob("payroll"));
  if (lease !== "no run") await beginDrillRun(owner.db, run, lease === "alive" ? 60_000 : -1_000);
  const { db } = await owner.as("scheduler");
  return { owner, db, watch: new ProbeWatch("sched-1", log, 0) };
}

test("removes probes whose controller's lease is over, and leaves the run and everybody else's jobs", async () => {
  const { owner, db, watch } = await scene("over");
  await watch.look(db);
  expect(await names(owner.db)).toEqual(["payroll", "probe-1", "probe-2"]);
  await watch.look(db);
  expect(await names(owner.db)).toEqual(["payroll"]);
  expect(await liveProbes(owner.db)).toBe(0);
  expect(await owner.value("SELECT ended_at FROM escapement.drill_run")).toBeNull();
  expect(
    await owner.value(
      "SELECT DISTINCT person || ': ' || reason FROM escapement.operation WHERE action = 'jobs delete'",
    ),
  ).toBe(`scheduler sched-1: the controller of drill ${run.runId} has not been heard of`);
});

test("removes probes that no run is on for", async () => {
  const { owner, db, watch } = await scene("no run");
  await watch.look(db);
  await watch.look(db);
  expect(await names(owner.db)).toEqual(["payroll"]);
});

test("leaves the probes of a controller that is alive, or that comes back in between", async () => {
  const alive = await scene("alive");
  for (let look = 0; look < 3; look++) await alive.watch.look(alive.db);
  expect(await names(alive.owner.db)).toEqual(["payroll", "probe-1", "probe-2"]);

  // As when the database's clock is moved: the lease is over, and is renewed, and over again.
  const { owner, db, watch } = await scene("over");
  for (let look = 0; look < 4; look++) {
    await watch.look(db);
    await renewDrillRun(owner.db, run.runId, controller, -1_000);
  }
  expect(await names(owner.db)).toEqual(["payroll", "probe-1", "probe-2"]);
});

test("waits as long as it is told, by its own clock", async () => {
  const { owner, db } = await scene("over");
  const watch = new ProbeWatch("sched-1", log, 3_600_000);
  for (let look = 0; look < 3; look++) await watch.look(db);
  expect(await names(owner.db)).toEqual(["payroll", "probe-1", "probe-2"]);
});

test("does nothing for what has changed since it was seen", async () => {
  const { owner, db } = await scene("over");
  const seen = (await abandonedProbes(db))!;
  await renewDrillRun(owner.db, run.runId, controller, 60_000);
  expect(await removeAbandonedProbes(db, seen, deed)).toBe(0);
  expect(await names(owner.db)).toEqual(["payroll", "probe-1", "probe-2"]);
});
