/** Item 3: what the store does with executions of one job, whatever its files say. */
import { expect, it } from "vitest";
import { blockingPolicy } from "../../../src/checklist/items/03-blocking-policy.ts";
import { definitionsOf, goodJobs } from "../good-cluster.ts";
import { changed, context, db, verdicts } from "../item-scene.ts";

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
