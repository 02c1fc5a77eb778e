/** Item 5: what was missed comes back in small portions. */
import { tryCatchUpCap } from "../../store/checklist/catch-up-cap.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { drains, mostShare } from "./catch-up-drain.ts";
import { pairs, policyInForce, unwritten } from "./job-files.ts";
import { inParts, openStore } from "./parts.ts";
import { clusterScope, jobLocation, result, trialEvidence } from "./verdicts.ts";

/** Beyond that people decide, not a queue: the greatest that a job file may say. */
const mostFires = 5;

export const catchUpCaps: ChecklistItem<CheckContext> = {
  number: 5,
  id: "catch-up-caps",
  question: "Is catch-up capped in number and in concurrency, and done before the next fire?",
  why: "After a long stop everything is due at once. Without caps the recovery takes the database down a second time.",
  how: "The cap of every job file is compared with the version that the store fires by. More catch-up shards than the cluster's share allows are put in line and claimed twice, in a statement that is rolled back. The worst time to drain is the cap times the usual duration, on the slots that the share leaves of those of executors that live: of the job alone, and in one line with all others of its class. It is held against the shortest gap between fires.",
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

async function concurrency(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  const cluster = context.definitions.cluster;
  const share = cluster?.definition.catchUp.share;
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
  if (first === 0)
    return [
      result(
        scope,
        "unknown",
        allowed === 0
          ? "catch-up holds all of its slots now: a claim that is given nothing shows no cap"
          : `a claim was given none of ${allowed} shard(s), so the cap was not met`,
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
