/** Opening beside completions that are under way, and beside a job that cannot be decided. */
import { expect, test } from "vitest";
import { completeAttempts } from "../../src/store/completion.ts";
import { openDue } from "../../src/store/opening.ts";
import { testJob } from "../support/job.ts";
import { until } from "../support/until.ts";
import { Bench } from "./bench.ts";

test("what is held behind an execution that ends in the same moment is let go by that end", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("line", { blocking: { policy: "queue", maxQueued: 3 } }));
  const [first, second] = [await bench.at(-4_000), await bench.at(-2_000)];
  await bench.plan(job, [first]);
  await openDue(bench.db);
  const executor = await bench.executor();
  const claims = await bench.claim(executor);
  await bench.plan(job, [second]);
  let opening: Promise<unknown> = Promise.resolve();
  // The end of the first is written but not committed while the second is decided.
  await bench.db.transaction(async (tx) => {
    const ends = claims.map((claim) => ({
      ...claim,
      outcome: "success" as const,
      delayMs: 0,
      rows: null,
      exitCode: 0,
      error: null,
    }));
    expect(await completeAttempts(tx, executor, ends)).toEqual([true]);
    opening = openDue(bench.db);
    await until(
      () =>
        bench.value<boolean>(
          "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid')",
        ),
      { what: "the opener to wait for the completion" },
    );
  });
  await opening;
  expect(await bench.live(job)).toEqual(["open"]);
});

test("a job that cannot be decided raises an alert and keeps nobody else from opening", async () => {
  const bench = await Bench.open();
  const broken = await bench.apply(testJob("broken", { misfire: { policy: "skip", thresholdMs: 0 } }));
  const sound = await bench.apply(testJob("sound", { misfire: { policy: "run-now", thresholdMs: 0 } }));
  const fire = await bench.at(-5_000);
  await bench.plan(broken, [fire]);
  await bench.plan(sound, [fire]);
  await bench.db.query(
    "UPDATE escapement.job_version SET definition = definition - 'misfire' WHERE job_id = $1",
    [broken.jobId],
  );
  await openDue(bench.db);
  expect(await bench.execution(sound, fire)).toMatchObject({ status: "pending", triggerType: "misfire" });
  expect(await bench.execution(broken, fire)).toMatchObject({ status: "planned" });
  expect(
    await bench.value("SELECT severity FROM escapement.alert_outbox WHERE kind = 'job-unopenable'"),
  ).toBe("critical");
});
