/** What the schedule alone knows: fires without a row, pauses, deletion, and runs by hand besides. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import type { JobRow } from "../../../src/store/job.ts";
import { deleteJob, pauseJob, resumeJob } from "../../../src/store/job-change.ts";
import { runManually } from "../../../src/store/manual-run.ts";
import { diagnoseWindow } from "../../../src/watchman/diagnose/diagnose-window.ts";
import { readWindow } from "../../../src/watchman/diagnose/read-window.ts";
import { Bench, deed } from "../../store/bench.ts";
import { testJob } from "../../support/job.ts";
import { brief, diagnose, opened } from "./plant.ts";

const minutely: Partial<JobDefinition> = { schedule: { kind: "every", everyMs: 60_000 } };

/** A job whose fires the schedule knows, known for half an hour. */
async function known(bench: Bench, change: Partial<JobDefinition> = {}): Promise<JobRow> {
  await bench.apply(testJob("hourly", { ...minutely, ...change }));
  await bench.db.query(
    "UPDATE escapement.job SET known_since = known_since - interval '5 minutes', planned_until = planned_until - interval '5 minutes'",
  );
  await bench.db.query(
    "UPDATE escapement.job_version SET effective_from = effective_from - interval '5 minutes'",
  );
  return bench.job("hourly");
}

test("fires that nobody has planned are found by the schedule alone", async () => {
  const bench = await Bench.open();
  const found = await diagnose(bench, await known(bench));
  expect(found.length).toBeGreaterThanOrEqual(3);
  expect(new Set(found.map(brief))).toEqual(new Set(["never-fired no-leader"]));
  expect(found[0]!.evidence[0]).toMatchObject({ from: "definition" });
});

test("a row that was taken away by hand is not blamed on the leader", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  await bench.db.query("UPDATE escapement.job SET planned_until = clock_timestamp()");
  expect(new Set((await diagnose(bench, job)).map(brief))).toEqual(new Set(["never-fired record-missing"]));
});

test("a pause is named as the reason, and as intended", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  await bench.db.query(
    "UPDATE escapement.job SET planned_until = date_trunc('minute', clock_timestamp() - interval '1 minute') - interval '1 second'",
  );
  await pauseJob(bench.db, await bench.job("hourly"), deed);
  await bench.db.query("UPDATE escapement.job SET planned_until = clock_timestamp() - interval '3 minutes'");
  await bench.db.query(
    "UPDATE escapement.operation SET at = at - interval '4 minutes' WHERE action = 'jobs pause'",
  );
  await bench.db.query("DELETE FROM escapement.execution");
  await resumeJob(bench.db, await bench.job("hourly"), deed);
  const found = (await diagnose(bench, job)).map(brief);
  expect(found.filter((one) => one === "never-fired paused!").length).toBeGreaterThanOrEqual(2);
});

test("a deleted job owes nothing after its end", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  await bench.db.query("UPDATE escapement.job SET planned_until = clock_timestamp()");
  await deleteJob(bench.db, await bench.job("hourly"), deed);
  await bench.db.query("UPDATE escapement.job SET state_since = known_since");
  expect((await diagnose(bench, job)).map(brief)).toEqual([]);
});

test("a run by hand besides a success of the same gap is a duplicate", async () => {
  const bench = await Bench.open();
  const job = await known(bench, { schedule: { kind: "every", everyMs: 86_400_000 } });
  const midnight = new Date(Math.floor((await bench.now()).getTime() / 86_400_000) * 86_400_000);
  await bench.db.query("UPDATE escapement.job SET known_since = $1::timestamptz - interval '1 hour'", [
    midnight,
  ]);
  await bench.db.query(
    "UPDATE escapement.job_version SET effective_from = $1::timestamptz - interval '1 hour'",
    [midnight],
  );
  await bench.plan(job, [midnight]);
  const executor = await bench.executor();
  await bench.work(executor);
  await bench.db.query("UPDATE escapement.execution SET missed_seconds = 0, trigger_type = 'schedule'");
  await runManually(bench.db, await bench.job("hourly"), deed);
  await bench.work(executor);
  const [from, to] = [new Date(midnight.getTime() - 1), await bench.at(60_000)];
  const { rows } = await readWindow(bench.db, { jobId: job.jobId, from, to });
  expect(diagnoseWindow(rows, from, to).diagnoses.map(brief)).toEqual(["duplicate manual-run!"]);
});

test("reading is possible for a login that may only read, and an unknown incarnation is no trouble", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("settlement"));
  await opened(bench, job, -1_000);
  const reader = await bench.as("reader");
  await bench.db.query(
    "INSERT INTO escapement.stale_write (job_id, fire_time, shard_no, owner, fence_token, what) SELECT job_id, fire_time, 0, $1, 9007199254740993, 'success' FROM escapement.execution",
    [randomUUID()],
  );
  expect((await diagnose(reader, job)).map(brief)).toEqual(["duplicate lease-lost"]);
});
