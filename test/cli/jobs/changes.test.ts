/** What applying files would do to jobs that no file names. */
import { expect, test } from "vitest";
import { jobChanges } from "../../../src/cli/jobs/changes.ts";
import type { ResolvedJob } from "../../../src/spec/definitions.ts";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import { applyJob } from "../../../src/store/job-change.ts";
import { Bench, deed } from "../../store/bench.ts";
import { digestOf, testJob } from "../../support/job.ts";

const file = { file: "jobs/kept.yaml", line: 1, column: 1 };

test("prune deletes what no file names, and leaves the jobs of drills alone", async () => {
  const bench = await Bench.open();
  const kept = testJob("kept");
  for (const job of [kept, testJob("stray"), ofDrills("drill"), ofDrills("drills")]) await apply(bench, job);
  const wanted: ResolvedJob[] = [{ ...file, definition: kept, digest: digestOf(kept) }];
  const found = async (prune: boolean) =>
    (await jobChanges(bench.db, wanted, { prune })).map(({ job, action }) => `${action} ${job}`);
  expect(await found(false)).toEqual(["none kept"]);
  expect(await found(true)).toEqual(["none kept", "delete stray"]);
});

test("a file may still name a job there, and change it", async () => {
  const bench = await Bench.open();
  await apply(bench, ofDrills("drills"));
  const definition = { ...ofDrills("drills"), timeoutMs: 1_234_000 };
  const found = await jobChanges(bench.db, [{ ...file, definition, digest: digestOf(definition) }], {
    prune: true,
  });
  expect(found).toMatchObject([{ job: "drills/kill-executor", action: "change" }]);
});

function ofDrills(namespace: "drill" | "drills"): JobDefinition {
  return testJob("kill-executor", { namespace });
}

async function apply(bench: Bench, job: JobDefinition): Promise<void> {
  await applyJob(bench.db, job, digestOf(job), deed);
}
