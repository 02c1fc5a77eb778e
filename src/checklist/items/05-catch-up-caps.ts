/** Item 5: what was missed comes back in small portions. */
import { formatDuration } from "../../base/duration.ts";
import { shardCount } from "../../spec/shard-count.ts";
import { readSlots, type SlotRow, tryCatchUpCap } from "../../store/checklist/catch-up-cap.ts";
import { type DurationRow, readDurations } from "../../store/checklist/durations.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { type Pair, pairs, policyInForce, unwritten } from "./job-files.ts";
import { databaseNow, inParts, openStore } from "./parts.ts";
import { shortestGap } from "./shortest-gap.ts";
import {
  clusterScope,
  computed,
  fileEvidence,
  jobLocation,
  jobScope,
  queryEvidence,
  result,
  trialEvidence,
} from "./verdicts.ts";

/** Beyond that people decide, not a queue: the greatest that a job file may say. */
const mostFires = 5;
/** Catch-up must leave half of the slots to what is on time. */
const mostShare = 0.5;

export const catchUpCaps: ChecklistItem<CheckContext> = {
  number: 5,
  id: "catch-up-caps",
  question: "Is catch-up capped in number and in concurrency, and done before the next fire?",
  why: "After a long stop everything is due at once. Without caps the recovery takes the database down a second time.",
  how: "The cap of every job file is compared with the version that the store fires by. More catch-up shards than the cluster's share allows are put in line and claimed twice, in a statement that is rolled back. The worst time to drain is the cap times the usual duration, on the slots that the share leaves, against the shortest gap between fires.",
  check: (context) =>
    inParts(context, {
      "what the files say": async () => unwritten(context, ["catchUp"], "write spec.catchUp into the job"),
      "the caps in the store": () => counts(context),
      "the cap on concurrency": () => concurrency(context),
      "the time to drain": () => drains(context),
    }),
};

async function counts(context: CheckContext): Promise<Result[]> {
  return (await pairs(context)).pairs.map((pair) => {
    const inForce = policyInForce(context, pair, "catchUp");
    const most = Math.max(pair.job.definition.catchUp.maxFires, pair.applied?.catchUp.maxFires ?? 0);
    if (most <= mostFires) return inForce;
    return result(
      inForce.scope,
      "fail",
      `${most} fires may be caught up, more than ${mostFires}`,
      inForce.evidence,
      {
        todo: `set spec.catchUp.maxFires to ${mostFires} or less`,
        location: jobLocation(pair.job),
      },
    );
  });
}

function shareOf(context: CheckContext): number | undefined {
  return context.definitions.cluster?.definition.catchUp.share;
}

async function concurrency(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  const cluster = context.definitions.cluster;
  const share = shareOf(context);
  if (!cluster || share === undefined)
    return [result(scope, "unknown", "no cluster file says which share catch-up may use", [])];
  const location = { file: cluster.file, line: cluster.line };
  if (share > mostShare)
    return [
      result(scope, "fail", `catch-up may use ${share} of the slots, more than ${mostShare}`, [], {
        location,
      }),
    ];
  const trial = await tryCatchUpCap(openStore(context), share);
  const { allowed, first, second } = trial.found;
  const evidence = [trialEvidence(context, trial)];
  if (first === 0 && allowed > 0)
    return [
      result(
        scope,
        "unknown",
        `a claim was given none of ${allowed} shard(s), so the cap was not met`,
        evidence,
        {
          todo: "escapement store status, then look again",
          location,
        },
      ),
    ];
  if (first > allowed || second > 0) {
    const message = `catch-up of ${share} of the slots allows ${allowed} shard(s); claims got ${first} and then ${second}`;
    return [
      result(scope, "fail", message, evidence, {
        todo: "escapement store status: restore the function claim",
        location,
      }),
    ];
  }
  return [
    result(
      scope,
      "pass",
      `claims were given ${first} of ${allowed} shard(s) that the share allows, then none`,
      evidence,
      { location },
    ),
  ];
}

async function drains(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const now = await databaseNow(context);
  const durations = await readDurations(db, context.window.from);
  const slots = await readSlots(db);
  const rows = new Map(durations.rows.map((row) => [row.jobId, row]));
  return (await pairs(context)).pairs.map((pair) => {
    const row = pair.applied && rows.get(pair.applied.jobId);
    const slow = slowness(pair, slots.rows[0]!, shareOf(context) ?? mostShare);
    const found =
      slots.rows[0]![pair.job.definition.resources.class] > 0
        ? drainOf(context, pair, row, slow, now)
        : noSlot(context, pair, slots);
    return row
      ? {
          ...found,
          evidence: [
            ...found.evidence,
            queryEvidence(context, durations, [row]),
            queryEvidence(context, slots),
          ],
        }
      : found;
  });
}

/** By how much one execution takes longer when its shards have only the slots that catch-up may use. */
function slowness({ job }: Pair, slots: SlotRow, share: number): number {
  const shards = shardCount(job.definition);
  const all = Math.max(1, slots[job.definition.resources.class]);
  return Math.min(shards, all) / Math.min(shards, Math.max(1, Math.floor(share * all)));
}

/** Nothing drains at all while no executor lives that has a slot for it. */
function noSlot(context: CheckContext, { job }: Pair, slots: Look<SlotRow>): Result {
  const message = `no executor that lives has a slot of class ${job.definition.resources.class}`;
  return result(jobScope(job), "unknown", message, [queryEvidence(context, slots)], {
    location: jobLocation(job),
    todo: "escapement status: start the executors",
  });
}

function drainOf(
  context: CheckContext,
  { job }: Pair,
  row: DurationRow | undefined,
  slow: number,
  now: Date,
): Result {
  const scope = jobScope(job);
  const location = jobLocation(job);
  const { maxFires } = job.definition.catchUp;
  const written = [
    fileEvidence(context, `${job.file}:${job.line}`, `catchUp: ${JSON.stringify(job.definition.catchUp)}`),
  ];
  if (maxFires === 0) return result(scope, "pass", "nothing is caught up", written, { location });
  const gap = shortestGap(job.definition, now);
  if (!gap) return result(scope, "pass", "only people run it: nothing is ever missed", written, { location });
  const usualMs = row ? row.p50Ms : job.definition.timeoutMs;
  const drainMs = Math.ceil(maxFires * usualMs * slow);
  const text = `${maxFires} fire(s) × ${formatDuration(Math.ceil(usualMs))} × ${slow.toFixed(2)} = ${formatDuration(drainMs)}; the next fire is ${formatDuration(gap.gapMs)} away at the least`;
  const evidence = [computed(context, "fires × duration × share of slots", text)];
  if (drainMs <= gap.gapMs)
    return result(scope, "pass", `catch-up drains within ${formatDuration(drainMs)}`, evidence, { location });
  if (!row) {
    const message = "it has no success on record, so nobody knows how long catch-up takes";
    return result(scope, "unknown", message, evidence, { location, todo: "run it once, then look again" });
  }
  const message = `catch-up takes up to ${formatDuration(drainMs)}, longer than the ${formatDuration(gap.gapMs)} to the next fire`;
  return result(scope, "fail", message, evidence, {
    todo: "lower spec.catchUp.maxFires, or make the job faster",
    location,
  });
}
