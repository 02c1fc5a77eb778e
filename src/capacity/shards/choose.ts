/** Chooses how many shards a job gets, and says why, and what would be next best. */
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { maxShards } from "../../spec/shard-count.ts";
import type { Answer } from "../figure.ts";
import { formatMs } from "../format.ts";
import type { Candidate, ShardQuestion } from "./candidate.ts";
import { figuresOf, notesOf, percent, trim } from "./explain.ts";
import type { KeyTally } from "./key-tally.ts";
import {
  ceilingMs,
  checkInput,
  fewestPerNode,
  firstChoice,
  limitsOf,
  longestMs,
  mostPerNode,
  shortestMs,
} from "./limits.ts";
import { simulateMakespan } from "./makespan.ts";
import { measureSkew } from "./skew.ts";

export interface ShardAnswer extends Answer {
  readonly chosen: Candidate;
  /** Best first. */
  readonly alternatives: readonly Candidate[];
}

/** A finer count is preferred to the smallest one only if it is at least this much faster. */
const worthwhile = 0.1;

/** The shard counts that {@link chooseShards} compares; a histogram must be tallied for these. */
export function candidateCounts(question: ShardQuestion): readonly number[] {
  checkInput(question);
  const { nodes } = question;
  const first = firstChoice(question).shards;
  const counts = new Set([first - nodes, first, first + nodes, first + 2 * nodes]);
  for (let perNode = fewestPerNode; perNode <= mostPerNode; perNode++) counts.add(perNode * nodes);
  return [...counts].filter((count) => count >= nodes && count <= maxShards).sort((a, b) => a - b);
}

/** @param tally the work by key, if known. @throws E_BAD_VALUE for input that cannot be answered. */
export function chooseShards(question: ShardQuestion, tally?: KeyTally): ShardAnswer {
  const first = firstChoice(question);
  if (first.shards > maxShards) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--nodes",
      value: question.nodes,
      expected: `few enough for at most ${maxShards} shards`,
      hint: `${first.why}; use fewer nodes for one job, or a longer target`,
    });
  }
  const candidates = candidateCounts(question).map((shards) => consider(shards, question, tally));
  const allowed = candidates.filter(
    ({ shards, shardMs }) =>
      shards >= first.shards && shardMs >= Math.min(shortestMs, question.targetMs) - 1e-6,
  );
  const smallest = candidates.find(({ shards }) => shards === first.shards)!;
  const fastest = allowed.reduce(
    (best, one) => (one.makespan.p95Ms < best.makespan.p95Ms ? one : best),
    smallest,
  );
  const isWorthIt = fastest.makespan.p95Ms < smallest.makespan.p95Ms * (1 - worthwhile);
  const limit = fastest.makespan.p95Ms * (1 + worthwhile / 2);
  const chosen = isWorthIt ? allowed.find(({ makespan }) => makespan.p95Ms <= limit)! : smallest;
  const binding = isWorthIt
    ? {
        constraint: "makespan",
        why: `${first.shards} would do by the rules (${first.why}), but ${chosen.shards} ends ${percent(1 - chosen.makespan.p95Ms / smallest.makespan.p95Ms)} earlier in 95 % of the runs`,
      }
    : { constraint: first.constraint, why: first.why };
  return {
    chosen,
    alternatives: rank(
      candidates.filter((one) => one !== chosen && one.shardMs <= ceilingMs),
      question,
      first.shards,
    ),
    figures: figuresOf(chosen, question),
    binding: {
      ...binding,
      limits: limitsOf(question).map(({ name, kind, shards, formula }) => ({
        name,
        allows: `${kind} ${shards}`,
        formula,
      })),
    },
    notes: notesOf(chosen, question, tally),
  };
}

function consider(shards: number, question: ShardQuestion, tally?: KeyTally): Candidate {
  const { totalMs, nodes, overheadMs } = question;
  const skew = tally
    ? measureSkew({
        sums: tally.shardSums(shards),
        total: tally.total,
        heavy: tally.heavyKeys(0.005),
        hash: tally.hash,
        totalMs,
        targetMs: question.targetMs,
        ceilingMs,
      })
    : undefined;
  const shardMs = totalMs / shards;
  const work = skew?.shardMs ?? new Array<number>(shards).fill(shardMs);
  const makespan = simulateMakespan({ ...question, shardMs: work, trials: trialsFor(work.length) });
  return {
    shards,
    perNode: shards / nodes,
    shardMs,
    longestShardMs: skew?.longestMs ?? shardMs,
    makespan,
    overheadShare: overheadMs / (overheadMs + shardMs),
    ...(skew && { skew }),
    why: judge(shards, question),
  };
}

/** Enough for a stable 95th percentile, fewer where one trial is long. */
function trialsFor(shards: number): number {
  return Math.max(40, Math.min(400, Math.floor(400_000 / shards)));
}

function judge(shards: number, { totalMs, targetMs, nodes }: ShardQuestion): string {
  const shardMs = totalMs / shards;
  const remarks = [`${trim(shards / nodes)} a node`, `${formatMs(shardMs)} a shard`];
  if (shardMs > targetMs + 1e-6) remarks.push(`longer than the target of ${formatDuration(targetMs)}`);
  if (shardMs > ceilingMs) remarks.push("longer than a shard may run");
  else if (shardMs > longestMs) remarks.push("longer than 10 minutes");
  if (shardMs < shortestMs - 1e-6) remarks.push("shorter than 2 minutes");
  if (shards / nodes < fewestPerNode) remarks.push(`fewer than ${fewestPerNode} a node`);
  if (shards / nodes > mostPerNode) remarks.push(`more than ${mostPerNode} a node`);
  return remarks.join(", ");
}

/** Those that keep the rules first, nearest to the first choice first. */
function rank(candidates: readonly Candidate[], question: ShardQuestion, first: number): Candidate[] {
  const faults = ({ shards, shardMs }: Candidate) =>
    Number(shardMs > question.targetMs + 1e-6) * 2 +
    Number(shardMs < shortestMs - 1e-6) +
    Number(shards / question.nodes < fewestPerNode) +
    Number(shards / question.nodes > mostPerNode);
  return [...candidates].sort(
    (a, b) =>
      faults(a) - faults(b) || Math.abs(a.shards - first) - Math.abs(b.shards - first) || b.shards - a.shards,
  );
}
