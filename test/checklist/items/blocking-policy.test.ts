/** Item 3: what the store does with executions of one job, whatever its files say. */
import { expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import { blockingPolicy } from "../../../src/checklist/items/03-blocking-policy.ts";
import { misfirePolicy } from "../../../src/checklist/items/04-misfire-policy.ts";
import { catchUpCaps } from "../../../src/checklist/items/05-catch-up-caps.ts";
import { peakDuration } from "../../../src/checklist/items/14-peak-duration.ts";
import { digest } from "../../../src/spec/digest.ts";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import { applyJob } from "../../../src/store/job-change.ts";
import { definitionsOf, goodJobs } from "../good-cluster.ts";
import { changed, context, db, resultOf, verdicts } from "../item-scene.ts";

it("finds an active job of no file, but not when only some jobs are asked about", async () => {
  const fewer = definitionsOf("/nowhere", goodJobs().slice(1));
  expect(await verdicts(blockingPolicy, context({ definitions: fewer }))).toEqual({
    payments: "pass",
    "pay/bonus": "fail",
    "pay/report": "pass",
    "pay/by-hand": "pass",
  });
  const { jobs } = fewer;
  expect(await verdicts(blockingPolicy, context({ definitions: { jobs } }))).not.toHaveProperty("pay/bonus");
});

const ofTimetable = { DRILL_TIMETABLE: "kind: DrillSchedule", DRILL_FILE: "kind: Drill" };

it.each<[string, Partial<JobDefinition>, "pass" | "fail" | undefined, RegExp]>([
  [
    "a job of a drill timetable",
    { namespace: "drills", environment: ofTimetable },
    "pass",
    /"forbid".*timetable/,
  ],
  ["one beside them that no timetable made", { namespace: "drills" }, "fail", /no file says by which policy/],
  [
    "one that says it is of a timetable, elsewhere",
    { namespace: "pay", environment: ofTimetable },
    "fail",
    /no file says by which policy/,
  ],
  ["a probe of a drill that is on", { namespace: "drill" }, undefined, /^$/],
])("%s has no file", async (_, change, verdict, message) => {
  const job: JobDefinition = { ...goodJobs()[2]!, name: "kill-executor", ...change };
  const found = await withApplied(job, (of) => resultOf(blockingPolicy, `${job.namespace}/${job.name}`, of));
  expect(found?.verdict).toBe(verdict);
  expect(found?.message ?? "").toMatch(message);
});

it("wants a policy of a job of a timetable, too", async () => {
  const job: JobDefinition = { ...goodJobs()[2]!, namespace: "drills", environment: ofTimetable };
  const { blocking: _, ...without } = job;
  const found = await withApplied(without as JobDefinition, (of) =>
    resultOf(blockingPolicy, "drills/by-hand", of),
  );
  expect(found).toMatchObject({ verdict: "fail", todo: "escapement drill schedule apply" });
});

it("no item asks for the file of a drill's job", async () => {
  const jobs = ["drill", "drills"].map(
    (namespace): JobDefinition => ({ ...goodJobs()[1]!, namespace, environment: ofTimetable }),
  );
  for (const item of [misfirePolicy, catchUpCaps, peakDuration]) {
    const usual = await verdicts(item);
    for (const job of jobs) expect(await withApplied(job, (of) => verdicts(item, of))).toEqual(usual);
  }
});

/** With one more job in the store, and in no file. */
async function withApplied<T>(job: JobDefinition, ask: (of: CheckContext) => Promise<T>): Promise<T> {
  const { jobId } = await applyJob(db, job, digest(job), { person: "tester", reason: "test" });
  try {
    return await ask(context());
  } finally {
    for (const table of ["operation", "job_version", "job"])
      await db.query(`DELETE FROM escapement.${table} WHERE job_id = $1`, [jobId]);
  }
}

it("finds executions side by side", async () => {
  const found = await changed(
    blockingPolicy,
    `UPDATE escapement.execution SET actual_end_time = actual_end_time + interval '2 hours'
     WHERE (job_id, fire_time) = (SELECT job_id, min(fire_time) FROM escapement.execution JOIN escapement.job USING (job_id)
       WHERE name = 'report' GROUP BY job_id)`,
    "pay/report",
  );
  expect(found).toMatchObject({
    verdict: "fail",
    message: expect.stringMatching(/^2 execution\(s\) began/),
  });
});

it("finds a gate that was changed", async () => {
  const { rows } = await db.query<{ source: string }>(
    "SELECT pg_get_functiondef('escapement.open_due'::regproc) AS source",
  );
  const gate = await changed(blockingPolicy, rows[0]!.source.replace("FOR NO KEY UPDATE SKIP LOCKED", ""));
  expect(gate).toMatchObject({ verdict: "fail", message: expect.stringMatching(/open_due/) });
});

it("is unknown while no execution has begun", async () => {
  expect(await changed(blockingPolicy, "UPDATE escapement.execution SET run_no = 2")).toMatchObject({
    verdict: "unknown",
    message: expect.stringMatching(/no execution has begun in the window/),
  });
});
