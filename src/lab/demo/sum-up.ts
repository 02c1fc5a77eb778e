/** Reads what is there after the performance, from the records, the ledger and the endpoint, and judges it. */
import { formatInstant } from "../../base/instant.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { DemoInput } from "./demo.ts";
import type { DemoResult, MisfireShow } from "./demo-result.ts";
import { type Example, type ExampleJob, payoutJob } from "./example.ts";
import { jobId } from "./expected-fire.ts";
import { type Finding, verdictOf } from "./finding.ts";
import { judgePayouts, judgeSnapshots } from "./judge-effects.ts";
import { type JudgedFire, judgeFires, type StopInterval } from "./judge-fires.ts";
import { judgeSettlement } from "./judge-settlement.ts";
import type { Ledger } from "./ledger.ts";
import type { PayoutEndpoint } from "./payout-endpoint.ts";
import type { Performed } from "./performance.ts";
import { failedAttempts, readCounts, recordedFires } from "./records.ts";
import type { Stage } from "./stage.ts";

export interface AfterPerformance {
  readonly example: Example;
  readonly input: DemoInput;
  readonly jobs: readonly ExampleJob[];
  readonly ledger: Ledger;
  readonly endpoint: PayoutEndpoint;
  readonly performed: Performed;
}

const snapshotTable = "ledger.snapshot";

export async function sumUp(stage: Stage, after: AfterPerformance): Promise<DemoResult> {
  const { example, input, ledger, endpoint, performed } = after;
  const { store, server } = stage.cluster;
  const jobs = after.jobs.map((job) => job.definition);
  const counts = await readCounts(store);
  const recorded = await recordedFires(store);
  const { stop, leaderKill, executorKill, refusals } = performed;
  const judged = judgeFires({
    expected: performed.expected,
    recorded,
    jobs,
    stop,
    alertedJobs: counts.alertedJobs,
  });
  const settlement = judgeSettlement(input.payments, await ledger.settled());
  const firesOf = (wanted: (job: JobDefinition) => boolean) => {
    const names = jobs.filter(wanted).map(jobId);
    return judged.fires.filter((fire) => names.includes(fire.expected.job));
  };
  const payouts = judgePayouts(
    firesOf((job) => job.name === payoutJob),
    input.people,
    endpoint.accepted,
  );
  const taken = jobs.filter((job) => job.effects.some((effect) => effect.target === snapshotTable));
  const snapshots = judgeSnapshots(
    firesOf((job) => taken.includes(job)),
    await ledger.snapshots(),
  );
  const misfire = taken.map((job) => showMisfire(job, judged.fires, stop));
  const findings = [
    ...judged.findings,
    ...settlement.findings,
    ...payouts.findings,
    ...snapshots.findings,
    ...(await failedAttempts(store)).map(({ job, fireMs, shardNo, attempt, error }): Finding => {
      const at = `${job} of ${formatInstant(new Date(fireMs))}, shard ${shardNo}`;
      return { kind: "remark", what: `attempt ${attempt} of ${at} failed and was repeated: ${error ?? ""}` };
    }),
    ...judgeProof({ ...performed, misfire }),
  ];
  return {
    verdict: verdictOf(findings),
    findings,
    tookMs: Math.round(stage.elapsedMs()),
    tier: "process",
    postgres: { major: server.binaries.major, source: server.binaries.source },
    cluster: {
      schedulers: example.shape.schedulers,
      executors: example.shape.executors,
      leaseMs: example.cluster.executor.leaseMs,
      lookAheadMs: example.cluster.scheduler.lookAheadMs,
    },
    input: {
      seed: input.seed,
      data: input.data,
      payments: input.payments.length,
      heavySupplier: input.heavy.supplier,
      heavyRows: input.heavy.rows,
      people: input.people.length,
    },
    leaderKill,
    executorKill,
    stop,
    misfire,
    fires: judged.fires,
    settlement: settlement.periods,
    payouts: { ...withoutFindings(payouts), requests: endpoint.requests, repeats: endpoint.repeats },
    snapshots: withoutFindings(snapshots),
    refusals,
    staleWrites: { store: counts.staleWrites, ledger: await ledger.refusedWrites() },
    shardsRetried: recorded.reduce((sum, record) => sum + record.shardsRetried, 0),
    attemptsLost: counts.attempts,
  };
}

function showMisfire(job: JobDefinition, fires: readonly JudgedFire[], stop: StopInterval): MisfireShow {
  const { misfire } = job;
  const due = fires.filter(
    ({ expected }) =>
      expected.job === jobId(job) && expected.fireMs > stop.stoppedMs && expected.fireMs <= stop.readyMs,
  );
  const count = (outcome: JudgedFire["outcome"]) => due.filter((fire) => fire.outcome === outcome).length;
  return {
    job: job.name,
    policy: misfire.policy,
    thresholdMs: misfire.thresholdMs,
    windowMs: misfire.policy === "within-window" ? misfire.windowMs : null,
    due: due.length,
    onTime: count("done"),
    caughtUp: count("caught-up"),
    missed: count("missed"),
  };
}

/** A fault that hit nothing, or a policy that had nothing to decide, shows nothing: that is no pass. */
export function judgeProof(
  proof: Pick<Performed, "leaderKill" | "executorKill" | "refusals" | "settled"> & {
    readonly misfire: readonly MisfireShow[];
  },
): Finding[] {
  const { leaderKill, executorKill, refusals, misfire, settled } = proof;
  const findings: Finding[] = [];
  const unproven = (what: string) => findings.push({ kind: "unproven", what });
  if (!settled)
    findings.push({ kind: "unsettled", what: "something was still running when the demo stopped waiting" });
  if (!leaderKill.successor) unproven("nobody was seen to take over from the killed leader");
  else if (leaderKill.successor.plannedAfterMs === null) unproven("the new leader was not seen to plan");
  if (!executorKill || executorKill.lost.length === 0)
    unproven("no executor could be killed while it held a shard");
  else {
    const left = executorKill.lost.filter((attempt) => !attempt.madeGood);
    if (left.length > 0)
      findings.push({
        kind: "lost",
        what: `${left.length} shards of the killed executor were not done by another`,
      });
  }
  const showed: Record<MisfireShow["policy"], (show: MisfireShow) => boolean> = {
    "run-now": (show) => show.caughtUp > 0,
    skip: (show) => show.missed > 0,
    "within-window": (show) => show.caughtUp > 0 && show.missed > 0,
  };
  for (const policy of ["run-now", "skip", "within-window"] as const) {
    if (!misfire.some((show) => show.policy === policy && showed[policy](show)))
      unproven(`no job showed what ${policy} does with a missed fire`);
  }
  for (const { what, refused, answer } of refusals)
    if (!refused) findings.push({ kind: "doubled", what: `${what} was not refused: ${answer}` });
  return findings;
}

function withoutFindings<T extends { findings: unknown }>(judged: T): Omit<T, "findings"> {
  const { findings: _, ...rest } = judged;
  return rest;
}
