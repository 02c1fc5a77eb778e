/** Fires that did not start, or not in time: planted through the store, each is named with its cause. */
import { test } from "vitest";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import { recordClockSample } from "../../../src/store/clock-sample.ts";
import { backfill } from "../../../src/store/manual-backfill.ts";
import { cancelExecution } from "../../../src/store/manual-cancel.ts";
import { openDue } from "../../../src/store/opening.ts";
import { type Bench, deed } from "../../store/bench.ts";
import { testJob } from "../../support/job.ts";
import { type Case, end, judgeCase, opened } from "./plant.ts";

const skip: Partial<JobDefinition> = { misfire: { policy: "skip", thresholdMs: 20_000 } };

/** As if the fire had been planned before its time, by a leader who led from then on. */
async function plannedInTime(bench: Bench): Promise<void> {
  await bench.db.query("UPDATE escapement.execution SET planned_at = fire_time - interval '2 minutes'");
}

async function ledSince(bench: Bench, ago: string): Promise<void> {
  await bench.db.query("UPDATE escapement.leader SET acquired_at = clock_timestamp() - $1::interval", [ago]);
}

const cases: readonly Case[] = [
  {
    what: "a success in time is fine",
    plant: async (bench, job) => {
      await opened(bench, job, -1_000);
      await bench.work(await bench.executor());
    },
    expected: [],
  },
  {
    what: "no leader, and the misfire policy is skip",
    job: skip,
    plant: (bench, job) => opened(bench, job, -120_000),
    expected: ["never-fired no-leader"],
  },
  {
    what: "the leader's process lived, but did not reach the store",
    job: skip,
    plant: async (bench, job) => {
      await opened(bench, job, -120_000);
      const { holder } = await bench.lead();
      await bench.db.query(
        `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, started_at)
         VALUES ($1, 'sched-a', 'a', 1, '0', 'x', 'leader', clock_timestamp() - interval '1 hour')`,
        [holder],
      );
    },
    expected: ["never-fired store-outage?"],
  },
  {
    what: "the database's clock jumped over the fire",
    job: skip,
    plant: async (bench, job) => {
      await opened(bench, job, -120_000);
      await recordClockSample(bench.db, {
        node: "sched-a",
        part: "store",
        kind: "step",
        offsetMs: 300_000,
        roundTripMs: null,
      });
    },
    expected: ["never-fired clock-step"],
  },
  {
    what: "a step back has jumped over nothing, however near it was",
    job: skip,
    plant: async (bench, job) => {
      await opened(bench, job, -120_000);
      const step = { node: "a", part: "store", kind: "step" as const, offsetMs: -1_000, roundTripMs: null };
      await recordClockSample(bench.db, step);
      await bench.db.query(
        "UPDATE escapement.clock_sample SET at = (SELECT fire_time + interval '1 second' FROM escapement.execution)",
      );
    },
    expected: ["never-fired no-leader"],
  },
  {
    what: "planned in time, and no executor was there",
    job: skip,
    plant: async (bench, job) => {
      await ledSince(bench, "1 hour");
      await bench.plan(job, [await bench.at(-120_000)]);
      await ledSince(bench, "1 hour");
      await plannedInTime(bench);
      await openDue(bench.db);
    },
    expected: ["never-fired no-executor"],
  },
  {
    what: "caught up late after a time without a leader",
    job: { misfire: { policy: "run-now", thresholdMs: 1_000 } },
    plant: async (bench, job) => {
      await opened(bench, job, -600_000);
      await bench.work(await bench.executor());
    },
    expected: ["late no-leader"],
  },
  {
    what: "started late because the earlier run was in the way",
    job: { blocking: { policy: "queue", maxQueued: 3 } },
    plant: async (bench, job) => {
      const executor = await bench.executor();
      await opened(bench, job, -900_000);
      const first = await bench.claim(executor);
      await bench.plan(job, [await bench.at(-600_000)]);
      await openDue(bench.db);
      await end(bench, executor, first, { outcome: "success" });
      await bench.work(executor);
      await plannedInTime(bench);
      await bench.db.query(
        "UPDATE escapement.execution SET opened_at = fire_time, actual_start_time = fire_time, missed_seconds = 0 WHERE fire_time < clock_timestamp() - interval '12 minutes'",
      );
    },
    expected: ["late earlier-run"],
  },
  {
    what: "opened in time, and started late because no executor was there",
    plant: async (bench, job) => {
      await opened(bench, job, -600_000);
      await bench.db.query(
        "UPDATE escapement.execution SET planned_at = fire_time - interval '1 minute', opened_at = fire_time",
      );
      await bench.work(await bench.executor());
    },
    expected: ["late no-executor"],
  },
  {
    what: "opened in time, and the executors were busy",
    plant: async (bench, job) => {
      const executor = await bench.executor();
      await bench.db.query(
        "UPDATE escapement.executor SET started_at = clock_timestamp() - interval '1 hour'",
      );
      await opened(bench, job, -600_000);
      await bench.db.query(
        "UPDATE escapement.execution SET planned_at = fire_time - interval '1 minute', opened_at = fire_time",
      );
      await bench.work(executor);
    },
    expected: ["late executors-busy?"],
  },
  {
    what: "forbid: the earlier run had not ended",
    job: { blocking: { policy: "forbid" } },
    plant: async (bench, job) => {
      await opened(bench, job, -3_000);
      await bench.claim(await bench.executor());
      await opened(bench, job, -1_000);
    },
    expected: ["blocked earlier-run"],
  },
  {
    what: "its period had been done by another fire",
    plant: async (bench, job) => {
      await bench.plan(job, [await bench.at(-3_000)], { periodKey: "2026-07" });
      await bench.plan(job, [await bench.at(-1_000)], { periodKey: "2026-07" });
      await bench.work(await bench.executor());
    },
    expected: ["blocked period-taken"],
  },
  {
    what: "replaced while it ran",
    job: { blocking: { policy: "replace" } },
    plant: async (bench, job) => {
      await opened(bench, job, -3_000);
      const executor = await bench.executor();
      const claims = await bench.claim(executor);
      await opened(bench, job, -1_000);
      await end(bench, executor, claims, { outcome: "cancelled" });
      await bench.work(executor);
    },
    expected: ["interrupted replaced!"],
  },
  {
    what: "cancelled by a person before it began",
    plant: async (bench, job) => {
      const [fire] = await opened(bench, job, -1_000);
      await cancelExecution(bench.db, job, fire!, deed);
    },
    expected: ["never-fired cancelled!"],
  },
  {
    what: "queue: it is due and waits for the earlier run",
    job: { blocking: { policy: "queue", maxQueued: 3 } },
    plant: async (bench, job) => {
      await opened(bench, job, -200_000);
      await bench.claim(await bench.executor());
      await opened(bench, job, -100_000);
      await bench.db.query(
        "UPDATE escapement.execution SET planned_at = fire_time - interval '1 minute', opened_at = CASE WHEN opened_at IS NULL THEN NULL ELSE fire_time END",
      );
    },
    expected: ["blocked earlier-run"],
  },
  {
    what: "waits to be caught up behind another one",
    job: { misfire: { policy: "run-now", thresholdMs: 1_000 } },
    plant: (bench, job) => opened(bench, job, -200_000, -100_000),
    expected: ["late no-leader", "late no-leader"],
  },
  {
    what: "a backfill that waits for its turn is no failure",
    job: { schedule: { kind: "every", everyMs: 60_000 } },
    plant: async (bench, job) => {
      await bench.db.query(
        "UPDATE escapement.job SET known_since = known_since - interval '4 minutes', planned_until = clock_timestamp()",
      );
      await bench.db.query(
        "UPDATE escapement.job_version SET effective_from = effective_from - interval '4 minutes'",
      );
      const [from, to] = [await bench.at(-239_000), await bench.at(0)];
      await backfill(bench.db, await bench.job(job.name), { from, to }, deed);
    },
    expected: [],
  },
  {
    what: "planned, and taken back since the job was edited",
    plant: async (bench, job) => {
      await bench.plan(job, [await bench.at(60_000)]);
      await bench.apply(testJob("settlement", { timeoutMs: 61_000 }));
      await bench.db.query("UPDATE escapement.execution SET fire_time = fire_time - interval '10 minutes'");
    },
    expected: ["never-fired edited!"],
  },
];

test.each(cases)("$what", judgeCase);
