/**
 * What happens in the demo, in order:
 *
 *   jobs applied ─▶ months settled by hand, and meanwhile SIGKILL to leader and executor
 *     ─▶ everything stopped for some seconds, and started again ─▶ jobs paused ─▶ settled
 *     ─▶ two things tried that must be refused
 */
import { sleep } from "../../base/monotonic.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Database } from "../../store/database.ts";
import { requireJob } from "../../store/job.ts";
import { applyJob, pauseJob } from "../../store/job-change.ts";
import { runManually } from "../../store/manual-run.ts";
import { readStoreTime } from "../../store/store-time.ts";
import type { DemoInput } from "./demo.ts";
import { type ExampleJob, exampleJob, payoutJob, settlementJob } from "./example.ts";
import { type ExpectedFire, jobId, periodByHand, scheduledFires } from "./expected-fire.ts";
import { type ExecutorKill, killExecutor, killLeader, type LeaderKill } from "./kill.ts";
import { periodsOf } from "./payment.ts";
import type { PayoutEndpoint } from "./payout-endpoint.ts";
import { type PlannedStop, stopEverything } from "./planned-stop.ts";
import { lostAttempts, unsettled } from "./records.ts";
import { type Refusal, tryLateWrite, trySecondRun } from "./refusals.ts";
import { type Stage, waitFor } from "./stage.ts";

export interface Performed {
  readonly expected: readonly ExpectedFire[];
  readonly leaderKill: LeaderKill;
  readonly executorKill: ExecutorKill | null;
  readonly stop: PlannedStop;
  readonly refusals: readonly Refusal[];
  /** False: something was still going on when we stopped waiting. */
  readonly settled: boolean;
}

const deed = { person: "demo", reason: "escapement demo" };
/** How long each wait may take before the demo goes on and says so. */
const patienceMs = { start: 30_000, settlement: 25_000, nextFires: 30_000, settled: 90_000 };
/** An executor that runs both kinds of job at once comes along within the interval of the payouts. */
const aimMs = 6_000;
/** Jobs that fire this often are watched until they have fired again. */
const frequentMs = 10_000;

export async function perform(
  stage: Stage,
  jobs: readonly ExampleJob[],
  input: DemoInput,
  endpoint: PayoutEndpoint,
): Promise<Performed> {
  const { store } = stage.cluster;
  const definitions = jobs.map((job) => job.definition);
  const settlement = exampleJob(definitions, settlementJob);
  const payout = exampleJob(definitions, payoutJob);
  for (const job of jobs) await applyJob(store, job.definition, job.digest, deed);
  const byHand = await settleMonths(store, settlement, periodsOf(input.payments));
  stage.progress(`${jobs.length} jobs applied; settling ${byHand.map((fire) => fire.period).join(", ")}`);

  await waitFor(stage, patienceMs.start, async () => (await shardsDone(store, settlement)) >= 3);
  const successor = await killLeader(stage);
  const [executorKill, leaderKill] = await Promise.all([
    killExecutor(stage, {
      jobs: [jobId(settlement), jobId(payout)],
      // Some are paid, some are not, and for one the answer is on its way: the hardest moment there is.
      when: () => isHalfPaid(endpoint, input.people.length),
      patienceMs: aimMs,
    }),
    successor(),
  ]);
  await waitFor(stage, patienceMs.settlement, async () => (await unfinishedOf(store, settlement)) === 0);

  const shown = definitions.filter((job) => fireInterval(job) <= frequentMs && job !== payout);
  const stop = await stopEverything(stage, shown);
  await waitForNextFires(stage, [...shown, payout], stop.readyMs);
  await pauseAll(stage, definitions);
  stage.progress("jobs paused; waiting until everything has ended");
  const settled =
    (await waitFor(stage, patienceMs.settled, async () => (await unsettled(store)) === 0)) ?? false;

  const lost = executorKill && (await lostAttempts(store, executorKill.incarnation));
  const zombie = lost?.find((attempt) => attempt.job === jobId(settlement) && attempt.madeGood);
  const refusals = [
    ...(zombie ? [await tryLateWrite(settlement, zombie)] : []),
    await trySecondRun(store, settlement, byHand[0]!.period!),
  ];
  return {
    expected: [...byHand, ...(await expectScheduled(store, definitions, byHand))],
    leaderKill,
    executorKill: executorKill && { ...executorKill, lost: lost ?? [] },
    stop,
    refusals,
    settled,
  };
}

function isHalfPaid({ accepted }: PayoutEndpoint, people: number): boolean {
  const fireMs = accepted.at(-1)?.fireMs;
  const paid = accepted.filter((payout) => payout.fireMs === fireMs).length;
  return paid > people / 6 && paid < people / 2;
}

/** The fires that the schedule owed while the jobs were known and not paused. */
async function expectScheduled(
  store: Database,
  definitions: readonly JobDefinition[],
  byHand: readonly ExpectedFire[],
): Promise<ExpectedFire[]> {
  const expected: ExpectedFire[] = [];
  for (const definition of definitions) {
    const { knownSince, stateSince } = await requireJob(store, jobId(definition));
    for (const fire of scheduledFires(definition, knownSince, stateSince)) {
      // A month that was settled by hand is not due once more.
      if (!byHand.some((one) => one.job === fire.job && one.period === fire.period)) expected.push(fire);
    }
  }
  return expected;
}

/**
 * Runs each month once, by hand: the schedule would fire for them only on the
 * first of a month. They wait in line, because the job's blocking policy says so.
 */
async function settleMonths(
  store: Database,
  settlement: JobDefinition,
  periods: readonly string[],
): Promise<ExpectedFire[]> {
  const job = await requireJob(store, jobId(settlement));
  const fires: ExpectedFire[] = [];
  for (const period of periods) {
    const { fireTime } = await runManually(store, job, { ...deed, period });
    fires.push(periodByHand(settlement, period, fireTime));
  }
  return fires;
}

async function shardsDone(store: Database, job: JobDefinition): Promise<number> {
  const { jobId } = await requireJob(store, `${job.namespace}/${job.name}`);
  const { rows } = await store.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.shard WHERE job_id = $1 AND status = 'success'",
    [jobId],
  );
  return rows[0]!.count;
}

async function unfinishedOf(store: Database, job: JobDefinition): Promise<number> {
  const { jobId } = await requireJob(store, `${job.namespace}/${job.name}`);
  const { rows } = await store.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.execution_live WHERE job_id = $1 AND trigger_type = 'manual'",
    [jobId],
  );
  return rows[0]!.count;
}

/** Waits until each job has run a fire that came due after `sinceMs`. */
async function waitForNextFires(
  stage: Stage,
  jobs: readonly JobDefinition[],
  sinceMs: number,
): Promise<void> {
  await waitFor(stage, patienceMs.nextFires, async () => {
    const { rows } = await stage.cluster.store.query<{ count: number }>(
      `SELECT count(DISTINCT e.job_id)::integer AS count FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id
       WHERE j.namespace || '/' || j.name = ANY ($1) AND e.fire_time > $2 AND e.status = 'success'`,
      [jobs.map(jobId), new Date(sinceMs)],
    );
    return rows[0]!.count === jobs.length;
  });
}

/** Between two seconds, so that no fire comes due in the very instant of a pause. */
async function pauseAll(stage: Stage, definitions: readonly JobDefinition[]): Promise<void> {
  const { store } = stage.cluster;
  for (const definition of definitions) {
    for (;;) {
      stage.signal.throwIfAborted();
      const ms = (await readStoreTime(store)).getTime() % 1_000;
      if (ms >= 250 && ms <= 750) break;
      await sleep((1_250 - ms) % 1_000, stage.signal);
    }
    await pauseJob(store, await requireJob(store, jobId(definition)), deed);
  }
}

/** Milliseconds between two fires; infinite for a job that does not fire by itself. */
function fireInterval(job: JobDefinition): number {
  const schedule = jobSchedule(job);
  const first = schedule?.next(0);
  const second = first == null ? null : schedule!.next(first);
  return first == null || second == null ? Number.POSITIVE_INFINITY : second - first;
}
