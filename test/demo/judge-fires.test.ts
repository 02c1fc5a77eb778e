/** The judge of executions: what is missing, too much, out of order or against its policy is found. */
import { describe, expect, test } from "vitest";
import { exampleJob, readExample } from "../../src/lab/demo/example.ts";
import { type ExpectedFire, jobId, lastPeriods, scheduledFires } from "../../src/lab/demo/expected-fire.ts";
import { verdictOf } from "../../src/lab/demo/finding.ts";
import { judgeFires } from "../../src/lab/demo/judge-fires.ts";
import type { RecordedFire } from "../../src/lab/demo/records.ts";
import { judgeProof } from "../../src/lab/demo/sum-up.ts";

const { jobs } = await readExample();
const beganMs = Date.parse("2026-08-01T12:00:00.500Z");
const pausedMs = beganMs + 40_000;
/** Nobody ran from second 10.5 to 20.5; everything was ready at 22.5. */
const stop = { stoppedMs: beganMs + 10_000, startedMs: beganMs + 20_000, readyMs: beganMs + 22_000 };

const scheduled = jobs.flatMap((job) => scheduledFires(job, new Date(beganMs), new Date(pausedMs)));
const settled: ExpectedFire = {
  job: "finance/settlement",
  fireMs: beganMs + 12,
  period: "2026-07",
  shards: 33,
  trigger: "by-hand",
};
const expected = [settled, ...scheduled];

/** What a cluster without faults of its own writes about that. */
function rightRecords(): RecordedFire[] {
  const decidedMs = stop.startedMs + 1_500;
  const busyUntil = new Map<string, number>();
  return expected.map((fire) => {
    const { misfire } = exampleJob(jobs, fire.job.split("/")[1]!);
    const down = fire.fireMs > stop.stoppedMs && fire.fireMs <= decidedMs;
    const lateMs = down ? decidedMs - fire.fireMs : 0;
    const late = fire.trigger === "schedule" && lateMs > misfire.thresholdMs;
    const missed =
      late &&
      (misfire.policy === "skip" || (misfire.policy === "within-window" && lateMs > misfire.windowMs));
    const startedMs = Math.max(fire.fireMs + lateMs + 20, busyUntil.get(fire.job) ?? 0);
    if (!missed) busyUntil.set(fire.job, startedMs + 150);
    return {
      job: fire.job,
      fireMs: fire.fireMs,
      executionId: `${fire.job} ${fire.fireMs}`,
      trigger: fire.trigger === "by-hand" ? "manual" : late && !missed ? "misfire" : "schedule",
      status: missed ? "missed" : "success",
      period: fire.period,
      shards: missed ? 0 : fire.shards,
      shardsSucceeded: missed ? 0 : fire.shards,
      attempts: missed ? 0 : fire.shards,
      shardsRetried: 0,
      openedMs: missed ? null : startedMs - 10,
      startedMs: missed ? null : startedMs,
      endedMs: missed ? null : startedMs + 140,
      missedSeconds: missed ? null : (startedMs - fire.fireMs) / 1_000,
      epoch: 1,
      reason: missed ? "late; the misfire policy says no" : null,
    };
  });
}

const alertedJobs = ["finance/intraday-report", "finance/limit-check"];

function judge(recorded: readonly RecordedFire[], alerted: readonly string[] = alertedJobs) {
  return judgeFires({ expected, recorded, jobs, stop, alertedJobs: alerted });
}

/** The records with the one at `secondsAfter` of `job` changed. */
function changed(job: string, fireMs: number, by: Partial<RecordedFire>): RecordedFire[] {
  const records = rightRecords();
  const at = records.findIndex((record) => record.job === `finance/${job}` && record.fireMs === fireMs);
  if (at < 0) throw new Error(`no such record: ${job} ${fireMs}`);
  records[at] = { ...records[at]!, ...by };
  return records;
}

const second = (n: number) => Date.parse("2026-08-01T12:00:00.000Z") + n * 1_000;

describe("what is expected", () => {
  test("it comes from the schedules: every 3 seconds, every 5 seconds, and no month", () => {
    const of = (name: string) =>
      scheduled.filter((fire) => fire.job === `finance/${name}`).map((fire) => fire.fireMs);
    expect(of("limit-check")).toEqual([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39].map(second));
    expect(of("bonus-payout")).toEqual([5, 10, 15, 20, 25, 30, 35, 40].map(second));
    expect(of("settlement")).toEqual([]);
  });

  test("the last three months are those whose fire was a day ago or more", () => {
    const settlement = exampleJob(jobs, "settlement");
    const months = (now: string) => lastPeriods(settlement, 3, new Date(now));
    expect(months("2026-08-15T00:00:00Z")).toEqual(["2026-05", "2026-06", "2026-07"]);
    expect(months("2026-08-01T12:00:00Z")).toEqual(["2026-04", "2026-05", "2026-06"]);
  });
});

describe("fires", () => {
  test("a right run has nothing to complain about, and shows every policy at work", () => {
    const { fires, findings } = judge(rightRecords());
    expect(findings).toEqual([]);
    const outcomes = (job: string) =>
      fires
        .filter((fire) => fire.expected.job === `finance/${job}` && fire.expected.fireMs > stop.stoppedMs)
        .map((fire) => fire.outcome);
    expect(outcomes("rates-refresh").slice(0, 4)).toEqual(["caught-up", "caught-up", "caught-up", "done"]);
    expect(outcomes("limit-check").slice(0, 4)).toEqual(["missed", "missed", "missed", "done"]);
    expect(outcomes("intraday-report").slice(0, 4)).toEqual(["missed", "missed", "caught-up", "done"]);
  });

  test("one without an execution is lost", () => {
    const records = rightRecords();
    for (let i = 0; i < records.length; i++) {
      const { findings } = judge(records.filter((_, at) => at !== i));
      expect(findings.filter(({ kind }) => kind === "lost").length).toBeGreaterThanOrEqual(1);
    }
  });

  test.each(["failed", "cancelled", "blocked"] as const)("one that is %s is lost", (status) => {
    const { findings } = judge(changed("bonus-payout", second(25), { status, shardsSucceeded: 3 }));
    expect(findings).toMatchObject([{ kind: "lost" }]);
  });

  test("a success with a shard too few is lost, with a shard too many it is wrong", () => {
    expect(judge(changed("settlement", settled.fireMs, { shardsSucceeded: 32 })).findings).toMatchObject([
      { kind: "lost" },
    ]);
    expect(
      judge(changed("settlement", settled.fireMs, { shards: 34, shardsSucceeded: 34 })).findings,
    ).toMatchObject([{ kind: "wrong" }]);
  });

  test("one that is still running is unsettled: neither pass nor fail", () => {
    const { findings } = judge(
      changed("bonus-payout", second(25), { status: "running", shardsSucceeded: 1 }),
    );
    expect(findings).toMatchObject([{ kind: "unsettled" }]);
    expect(verdictOf(findings)).toBe("unknown");
  });

  test("an execution that nobody was owed is found, and so is a second one", () => {
    const [first, ...others] = rightRecords();
    expect(judge([first!, ...others, { ...first!, fireMs: first!.fireMs + 1 }]).findings).toMatchObject([
      { kind: "unexpected" },
    ]);
    expect(judge([first!, first!, ...others]).findings).toMatchObject([{ kind: "doubled" }]);
  });

  test("run-now may not miss a fire, a month by hand may not either", () => {
    const gone = { status: "missed", shardsSucceeded: 0, shards: 0 } as const;
    expect(judge(changed("rates-refresh", second(12), gone)).findings).toMatchObject([{ kind: "lost" }]);
    expect(judge(changed("settlement", settled.fireMs, gone)).findings).toMatchObject([{ kind: "lost" }]);
  });

  test("a miss while everything ran is a remark", () => {
    const { findings } = judge(
      changed("limit-check", second(33), { status: "missed", shardsSucceeded: 0, shards: 0 }),
    );
    expect(findings).toMatchObject([{ kind: "remark" }]);
    expect(verdictOf(findings)).toBe("pass");
  });

  test("a fire that ran although its policy says no is found", () => {
    const ran = { status: "success", shards: 1, shardsSucceeded: 1, trigger: "misfire" } as const;
    expect(judge(changed("limit-check", second(12), ran)).findings).toMatchObject([{ kind: "policy" }]);
    expect(judge(changed("intraday-report", second(12), ran)).findings).toMatchObject([{ kind: "policy" }]);
  });

  test("catching up in another order than oldest first is found", () => {
    const records = rightRecords();
    const before = records.find(
      (record) => record.job === "finance/rates-refresh" && record.fireMs === second(12),
    )!;
    const { findings } = judge(changed("rates-refresh", second(15), { startedMs: before.startedMs! + 10 }));
    expect(findings).toMatchObject([{ kind: "order" }]);
  });

  test("missed fires without an alert are found", () => {
    expect(judge(rightRecords(), ["finance/limit-check"]).findings).toMatchObject([
      { kind: "lost", what: expect.stringContaining("intraday-report") },
    ]);
  });
});

describe("proof", () => {
  const lost = {
    job: "finance/settlement",
    fireMs: 0,
    period: "2026-07",
    shardNo: 3,
    attempt: 1,
    fenceToken: 5,
    madeGood: true,
  };
  const misfire = (["run-now", "skip", "within-window"] as const).map((policy) => ({
    job: policy,
    policy,
    thresholdMs: 3_000,
    windowMs: null,
    due: 4,
    onTime: 1,
    caughtUp: 1,
    missed: 1,
  }));
  const proof = {
    settled: true,
    leaderKill: {
      node: "scheduler-1",
      pid: 1,
      epoch: 1,
      atMs: 0,
      successor: { node: "scheduler-2", epoch: 2, ledAfterMs: 4_000, plannedAfterMs: 4_100 },
    },
    executorKill: {
      node: "executor-1",
      pid: 2,
      incarnation: "i",
      atMs: 0,
      running: {},
      lost: [lost],
      putBackAfterMs: 900,
    },
    refusals: [{ what: "a late write", refused: true, answer: "refused" }],
    misfire,
  };

  test("with everything shown there is nothing to say", () => expect(judgeProof(proof)).toEqual([]));

  test.each([
    ["unsettled", { settled: false }],
    ["unproven", { leaderKill: { ...proof.leaderKill, successor: null } }],
    [
      "unproven",
      {
        leaderKill: {
          ...proof.leaderKill,
          successor: { ...proof.leaderKill.successor, plannedAfterMs: null },
        },
      },
    ],
    ["unproven", { executorKill: null }],
    ["unproven", { executorKill: { ...proof.executorKill, lost: [] } }],
    ["lost", { executorKill: { ...proof.executorKill, lost: [{ ...lost, madeGood: false }] } }],
    ["doubled", { refusals: [{ what: "a late write", refused: false, answer: "exit code 0" }] }],
    ["unproven", { misfire: misfire.slice(1) }],
    [
      "unproven",
      { misfire: misfire.map((show) => ({ ...show, missed: show.policy === "within-window" ? 0 : 1 })) },
    ],
  ])("%s", (kind, change) => {
    expect(judgeProof({ ...proof, ...change })).toMatchObject([{ kind }]);
  });

  test("what is wrong for certain outweighs what could not be seen", () => {
    expect(
      verdictOf([
        { kind: "unproven", what: "" },
        { kind: "doubled", what: "" },
      ]),
    ).toBe("fail");
  });
});

test("the demo's jobs are the ones of the example, one for each misfire policy", () => {
  const policies = jobs
    .filter((job) => job.name !== "settlement" && job.name !== "bonus-payout")
    .map((job) => job.misfire.policy);
  expect(policies.sort()).toEqual(["run-now", "skip", "within-window"]);
  expect(jobs.map(jobId)).toContain("finance/settlement");
});
