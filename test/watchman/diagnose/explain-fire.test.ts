/** Why a job did, or did not, run at a time: each kind of answer, in its first sentence. */
import { expect, test } from "vitest";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import type { JobRow } from "../../../src/store/job.ts";
import { applyJob, deleteJob, pauseJob } from "../../../src/store/job-change.ts";
import { runManually } from "../../../src/store/manual-run.ts";
import { explainFire, type FireExplanation } from "../../../src/watchman/diagnose/explain-fire.ts";
import { readWindow } from "../../../src/watchman/diagnose/read-window.ts";
import { Bench, deed } from "../../store/bench.ts";
import { digestOf, testJob } from "../../support/job.ts";

const berlin: Partial<JobDefinition> = {
  schedule: { kind: "cron", cron: "30 2 * * *" },
  timeZone: "Europe/Berlin",
  dstGap: "run-at-transition",
  dstOverlap: "first",
};

/** A job that has been known since 2026 began. */
async function known(bench: Bench, change: Partial<JobDefinition> = berlin): Promise<JobRow> {
  await bench.apply(testJob("settlement", change));
  await bench.db.query(
    "UPDATE escapement.job SET known_since = '2026-01-01Z', planned_until = '2026-01-01Z'",
  );
  await bench.db.query("UPDATE escapement.job_version SET effective_from = '2026-01-01Z'");
  return bench.job("settlement");
}

async function explain(
  bench: Bench,
  job: JobRow,
  time: string,
  clock: "ordinary" | "gap" | "overlap" = "ordinary",
): Promise<FireExplanation> {
  const at = new Date(time);
  const { rows } = await readWindow(bench.db, {
    jobId: job.jobId,
    from: new Date(at.getTime() - 86_400_000),
    to: new Date(at.getTime() + 86_400_000),
  });
  return explainFire(rows.jobs[0]!, rows, at, clock);
}

test("an ordinary night, a time that is no fire, the nights when the clock changes", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  const due = await explain(bench, job, "2026-07-01T00:30:00Z");
  expect(due.answer).toBe("fire");
  expect(due.diagnosis).toMatchObject({ class: "never-fired", cause: "no-leader" });
  expect(due.sentences[0]).toContain("was due at 2026-07-01T00:30:00.000Z (2026-07-01T02:30:00+02:00)");
  expect([due.previousFire, due.nextFire].map((one) => one?.toISOString())).toEqual([
    "2026-06-30T00:30:00.000Z",
    "2026-07-02T00:30:00.000Z",
  ]);
  const none = await explain(bench, job, "2026-07-01T02:00:00Z");
  expect([none.answer, none.diagnosis]).toEqual(["no-fire", null]);
  expect(none.sentences[0]).toContain("that is no fire of its schedule");
  const gap = await explain(bench, job, "2026-03-29T01:00:00Z", "gap");
  expect(gap.answer).toBe("fire");
  expect(gap.sentences[0]).toContain("does not exist in Europe/Berlin");
  expect(gap.sentences.join("\n")).toContain("moved: 02:30 is skipped by the clock");
  const second = await explain(bench, job, "2026-10-25T01:30:00Z", "overlap");
  expect(second.answer).toBe("no-fire");
  expect(second.sentences.join("\n")).toContain("02:30 came twice (overlap first)");
});

test("gap skip: that night has no fire at all", async () => {
  const bench = await Bench.open();
  const job = await known(bench, { ...berlin, dstGap: "skip" });
  const gap = await explain(bench, job, "2026-03-29T01:00:00Z", "gap");
  expect(gap.answer).toBe("no-fire");
  expect(gap.sentences.join("\n")).toContain("02:30 did not exist (gap skip)");
});

test("before it was known, in the future, and where the records were dropped", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  const early = await explain(bench, job, "2025-07-01T00:30:00Z");
  expect(early.answer).toBe("before-known");
  expect(early.sentences.join("\n")).toContain("No version was in force then; the first one is version 1");
  expect(early.sentences.join("\n")).not.toMatch(/The fire before it/);
  const future = await explain(bench, job, "2099-07-01T00:30:00Z");
  expect([future.answer, future.diagnosis]).toEqual(["future", null]);
  await bench.db.query("UPDATE escapement.cluster SET low_water = '2026-06-01Z'");
  const forgotten = await explain(bench, job, "2026-05-01T00:30:00Z");
  expect([forgotten.answer, forgotten.diagnosis]).toEqual(["forgotten", null]);
});

test("paused: with who did it and why", async () => {
  const bench = await Bench.open();
  const job = await known(bench, { schedule: { kind: "every", everyMs: 60_000 } });
  await bench.db.query("UPDATE escapement.job SET planned_until = clock_timestamp()");
  await pauseJob(bench.db, await bench.job("settlement"), { person: "ada", reason: "ledger is moved" });
  await bench.db.query(
    "UPDATE escapement.operation SET at = at - interval '10 minutes' WHERE action = 'jobs pause'",
  );
  const at = new Date(Math.floor(((await bench.now()).getTime() - 180_000) / 60_000) * 60_000);
  const paused = await explain(bench, job, at.toISOString());
  expect([paused.answer, paused.diagnosis]).toEqual(["paused", null]);
  expect(paused.sentences[0]).toContain("because it was paused");
  expect(paused.sentences.at(-1)).toContain("ada did jobs pause, because: ledger is moved");
});

test("edited: the version in force then decides, not the one of today", async () => {
  const bench = await Bench.open();
  const job = await known(bench);
  const edited = testJob("settlement", { ...berlin, schedule: { kind: "cron", cron: "0 5 * * *" } });
  await applyJob(bench.db, edited, digestOf(edited), deed);
  await bench.db.query("UPDATE escapement.job_version SET effective_from = '2026-07-10Z' WHERE version = 2");
  expect(await explain(bench, job, "2026-07-01T00:30:00Z")).toMatchObject({ answer: "fire", version: 1 });
  expect(await explain(bench, job, "2026-07-20T00:30:00Z")).toMatchObject({ answer: "no-fire", version: 2 });
  expect(await explain(bench, job, "2026-07-20T03:00:00Z")).toMatchObject({ answer: "fire", version: 2 });
});

test("by hand only, run by hand, and deleted", async () => {
  const bench = await Bench.open();
  const job = await known(bench, { schedule: { kind: "manual" } });
  expect((await explain(bench, job, "2026-07-01T00:30:00Z")).answer).toBe("manual-only");
  const { fireTime } = await runManually(bench.db, await bench.job("settlement"), deed);
  await bench.work(await bench.executor());
  const ran = await explain(bench, job, fireTime.toISOString());
  expect(ran.answer).toBe("recorded-without-schedule");
  expect(ran.sentences[0]).toContain("was run by hand");
  expect(ran.sentences.join("\n")).toContain("The records: success, by hand");
  await deleteJob(bench.db, await bench.job("settlement"), deed);
  await bench.db.query("UPDATE escapement.job SET state_since = '2026-06-01Z'");
  expect((await explain(bench, job, "2026-07-01T00:30:00Z")).answer).toBe("deleted");
});
