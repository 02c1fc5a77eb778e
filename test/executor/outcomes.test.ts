/** How attempts end, and what is written about it. */
import { chmodSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { isRunning } from "./process-state.ts";
import { Workshop } from "./workshop.ts";

test("failures are retried with their delays until the tries are used up, then an alert stands", async () => {
  const workshop = await Workshop.open();
  await workshop.job("wrong", "exit 3", { retry: { maxAttempts: 3, delaysMs: [50, 400] } });
  await workshop.executor();
  const run = await workshop.run("wrong");
  const execution = await workshop.ended(run, "failed");
  expect(execution.reason).toBe("1 shard(s) failed");
  const attempts = await workshop.attempts(run);
  expect(
    attempts.map(({ attempt, outcome, exitCode, error }) => [attempt, outcome, exitCode, error]),
  ).toEqual([
    [1, "retry", 3, "exit code 3"],
    [2, "retry", 3, "exit code 3"],
    [3, "failed", 3, "exit code 3"],
  ]);
  expect(attempts[2]!.startTime!.getTime() - attempts[1]!.endTime.getTime()).toBeGreaterThanOrEqual(400);
  const { rows } = await workshop.db.query<{ kind: string }>("SELECT kind FROM escapement.alert_outbox");
  expect(rows).toEqual([{ kind: "shard-failed" }]);
});

test("a retry that succeeds makes a success", async () => {
  const workshop = await Workshop.open();
  await workshop.job("second-time", '[ "$ESCAPEMENT_ATTEMPT" = 2 ] || exit 75');
  await workshop.executor();
  const run = await workshop.run("second-time");
  await workshop.ended(run);
  const attempts = await workshop.attempts(run);
  expect(attempts.map(({ outcome, error }) => [outcome, error])).toEqual([
    ["retry", "exit code 75: temporary failure"],
  ]);
});

test("a command that does not exist, or may not be executed, is a failed attempt that says so", async () => {
  const workshop = await Workshop.open();
  writeFileSync(workshop.path("not-executable"), "#!/bin/sh\n");
  chmodSync(workshop.path("not-executable"), 0o644);
  const retry = { maxAttempts: 2, delaysMs: [10] };
  await workshop.job("missing", "", { command: ["no-such-program", "--now"], retry });
  await workshop.job("forbidden", "", { command: [workshop.path("not-executable")], retry });
  await workshop.executor();
  const runs = [await workshop.run("missing"), await workshop.run("forbidden")] as const;
  for (const run of runs) await workshop.ended(run, "failed");
  const [missing, forbidden] = [await workshop.attempts(runs[0]), await workshop.attempts(runs[1])];
  expect(missing.map(({ outcome }) => outcome)).toEqual(["retry", "failed"]);
  expect(missing[0]!.error).toBe("cannot be started: spawn no-such-program ENOENT");
  expect(forbidden[1]!.error).toMatch(/^cannot be started: .*EACCES$/);
});

test("a signal, a timeout and a cancellation are told apart", async () => {
  const workshop = await Workshop.open();
  const retry = { maxAttempts: 1, delaysMs: [10] };
  await workshop.job("signalled", "kill -9 $$", { retry });
  await workshop.job("slow", "trap 'exit 0' TERM; sleep 60 & wait", { retry, timeoutMs: 700 });
  await workshop.job("unwanted", `echo started >> ${workshop.path("unwanted")}; sleep 60 & wait`, { retry });
  await workshop.executor();
  const [signalled, slow, unwanted] = [
    await workshop.run("signalled"),
    await workshop.run("slow"),
    await workshop.run("unwanted"),
  ] as const;
  await until(() => workshop.lines("unwanted").length > 0, { what: "the start of the unwanted one" });
  await workshop.db.query("SELECT escapement.cancel($1, $2, 'not wanted')", [
    unwanted.jobId,
    unwanted.fireTime,
  ]);
  await workshop.ended(signalled, "failed");
  await workshop.ended(slow, "failed");
  await workshop.ended(unwanted, "cancelled");
  const errors = await Promise.all([signalled, slow, unwanted].map((run) => workshop.attempts(run)));
  expect(errors.map(([attempt]) => [attempt!.outcome, attempt!.error])).toEqual([
    ["failed", "killed by SIGKILL"],
    // It ended with 0 after our SIGTERM: that is not believed.
    ["failed", "timed out after 700ms; exit code 0"],
    ["cancelled", "cancelled; killed by SIGTERM"],
  ]);
});

test("a child that ignores SIGTERM is killed five seconds later, with what it started", async () => {
  const workshop = await Workshop.open();
  await workshop.job(
    "stubborn",
    `trap '' TERM; (trap '' TERM; while :; do date +%s%N > ${workshop.path("beat")}; sleep 0.05; done) & wait`,
    {
      retry: { maxAttempts: 1, delaysMs: [10] },
      timeoutMs: 300,
    },
  );
  await workshop.executor();
  const run = await workshop.run("stubborn");
  await workshop.ended(run, "failed");
  const [attempt] = await workshop.attempts(run);
  expect(attempt!.error).toBe("timed out after 300ms; killed by SIGKILL");
  const last = workshop.lines("beat");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(workshop.lines("beat")).toEqual(last);
});

test("what a command leaves running in its group ends with it", async () => {
  const workshop = await Workshop.open();
  await workshop.job("forgetful", `sleep 300 & echo $! > ${workshop.path("pid")}; exit 0`);
  await workshop.executor();
  await workshop.ended(await workshop.run("forgetful"));
  const pid = Number(workshop.lines("pid")[0]);
  expect(pid).toBeGreaterThan(1);
  expect(isRunning(pid)).toBe(false);
});

test("a working directory that does not exist is named; a relative one starts where the executor was started", async () => {
  const workshop = await Workshop.open();
  await workshop.job("lost", "exit 0", {
    workingDirectory: workshop.path("nowhere"),
    retry: { maxAttempts: 1, delaysMs: [10] },
  });
  await workshop.job("placed", `pwd > ${workshop.path("pwd")}`, { workingDirectory: "." });
  await workshop.executor();
  const [lost, placed] = [await workshop.run("lost"), await workshop.run("placed")] as const;
  await workshop.ended(lost, "failed");
  await workshop.ended(placed);
  expect((await workshop.attempts(lost))[0]!.error).toBe(
    `cannot be started: the working directory ${workshop.path("nowhere")} does not exist`,
  );
  expect(workshop.lines("pwd")).toEqual([workshop.folder]);
});
