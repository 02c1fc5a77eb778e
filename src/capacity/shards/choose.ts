/** Chooses how many shards a job gets, and says why, and what would be next best. */
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { maxShards } from "../../spec/shard-count.ts";
import { type Answer, type Figure, figure } from "../figure.ts";
import type { KeyTally, ShardOf } from "./key-tally.ts";
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
import { type Makespan, simulateMakespan } from "./makespan.ts";
import { measureSkew, type Skew } from "./skew.ts";

export interface ShardQuestion {
  /** Work of one run as if one slot did it all, ms. */
  readonly totalMs: number;
  readonly targetMs: number;
  readonly nodes: number;
  /** Shards a node runs at a time. */
  readonly slotsPerNode: number;
  readonly overheadMs: number;
  readonly spread: number;
  readonly takeoverMs: number;
  readonly seed: number;
}

export interface Candidate {
  readonly shards: number;
  readonly perNode: number;
  readonly shardMs: number;
  readonly longestShardMs: number;
  readonly makespan: Makespan;
  /** Share of a shard's time that is overhead, 0 to 1. */
  readonly overheadShare: number;
  readonly skew?: Skew;
  readonly why: string;
}

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
export function chooseShards(question: ShardQuestion, tally?: KeyTally, shardOf?: ShardOf): ShardAnswer {
  const first = firstChoice(question);
  if (first.shards > maxShards) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--nodes",
      value: question.nodes,
      expected: `few enough for at most ${maxShards} shards`,
      hint: `${first.why}; use fewer nodes for one job, or a longer target`,
    });
  }
  const candidates = candidateCounts(question).map((shards) => consider(shards, question, tally, shardOf));
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
      candidates.filter((one) => one !== chosen),
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

function consider(shards: number, question: ShardQuestion, tally?: KeyTally, shardOf?: ShardOf): Candidate {
  const { totalMs, nodes, overheadMs } = question;
  const skew =
    tally && shardOf
      ? measureSkew({
          sums: tally.shardSums(shards),
          total: tally.total,
          heavy: tally.heavyKeys(0.005),
          shardOf,
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

function figuresOf(chosen: Candidate, question: ShardQuestion): Record<string, Figure> {
  const { totalMs, targetMs, nodes, slotsPerNode, overheadMs, spread, seed, takeoverMs } = question;
  const { shards, shardMs, makespan } = chosen;
  const total = formatDuration(totalMs);
  const simulated = { shards, nodes, slotsPerNode, overheadMs, spread, seed, takeoverMs };
  const ideal = totalMs / (nodes * slotsPerNode);
  const figures: Record<string, Figure> = {
    shards: figure(
      "shards",
      shards,
      "count",
      `smallest multiple of ${nodes} nodes that keeps every limit`,
      { totalMs, targetMs, nodes },
      "rule.node-multiple",
    ),
    shardTime: figure(
      "mean time of a shard",
      shardMs,
      "ms",
      `${total} ÷ ${shards}`,
      { totalMs, shards },
      "arithmetic",
    ),
    perNode: figure(
      "shards a node",
      chosen.perNode,
      "ratio",
      `${shards} ÷ ${nodes}`,
      { shards, nodes },
      "rule.shards-per-node",
    ),
    ideal: figure(
      "shortest possible run",
      ideal,
      "ms",
      `${total} ÷ (${nodes} nodes × ${slotsPerNode})`,
      { totalMs, nodes, slotsPerNode },
      "arithmetic",
    ),
    makespan: figure(
      "run ends within, 95 of 100",
      makespan.p95Ms,
      "ms",
      "95th percentile of greedy dispatch",
      simulated,
      "simulation",
    ),
    overhead: figure(
      "overhead, share of a shard",
      chosen.overheadShare,
      "percent",
      `${formatMs(overheadMs)} ÷ (${formatMs(overheadMs)} + ${formatMs(shardMs)})`,
      { overheadMs, shardMs },
      "assumption.overhead",
    ),
  };
  if (nodes > 1) {
    figures.oneNodeLost = figure(
      "with one node lost, 95 of 100",
      makespan.oneNodeLostP95Ms,
      "ms",
      `the same; node 0 dies at a random moment, its shards start anew ${formatDuration(takeoverMs)} later`,
      simulated,
      "simulation",
    );
  }
  if (chosen.skew) {
    figures.longestShard = figure(
      "longest shard",
      chosen.longestShardMs,
      "ms",
      "largest sum of work by hash of the key, heavy keys split off",
      { shards, splitKeys: chosen.skew.split.length },
      "rule.heavy-key",
    );
    figures.imbalance = figure(
      "longest shard over mean, before splitting",
      chosen.skew.imbalanceBefore,
      "ratio",
      "largest ÷ mean sum of work by hash of the key",
      { shards },
      "arithmetic",
    );
  }
  return figures;
}

function notesOf(chosen: Candidate, question: ShardQuestion, tally?: KeyTally): string[] {
  const { nodes, slotsPerNode, targetMs, totalMs } = question;
  const notes = ["Changing the count later means sharing out old data anew; rather start a little larger."];
  if (targetMs > longestMs)
    notes.push("The target is above 10 minutes: a failed shard costs that much again.");
  if (targetMs < shortestMs) notes.push("The target is below 2 minutes: watch the overhead.");
  if (nodes === 1) notes.push("With one node nothing takes over when it is lost.");
  const fits = Math.floor(totalMs / (fewestPerNode * shortestMs));
  if (chosen.perNode < fewestPerNode) {
    notes.push(
      `The work fills at most ${Math.max(1, fits)} node(s) with ${fewestPerNode} shards of 2 minutes each; more nodes do not help this job.`,
    );
  }
  const fair = totalMs / (nodes * slotsPerNode);
  if (chosen.skew && chosen.longestShardMs > fair) {
    notes.push(
      `The longest shard (${formatMs(chosen.longestShardMs)}) alone outlasts a fair share of the work (${formatMs(fair)}): it decides when the run ends.`,
    );
  }
  if (chosen.skew && chosen.longestShardMs > ceilingMs) {
    notes.push("The longest shard is above 15 minutes: choose a finer key.");
  }
  if (chosen.skew && chosen.skew.empty > 0) {
    notes.push(
      `${chosen.skew.empty} of ${chosen.skew.ordinaryShards} shards get no work: there are too few keys.`,
    );
  }
  if (tally && tally.total === 0) notes.push("The histogram holds no work at all.");
  return notes;
}

/** Milliseconds as minutes and seconds, to a tenth of a second below a minute. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return "never";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${trim(ms / 1_000)}s`;
  return formatDuration(Math.round(ms / 1_000) * 1_000);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function trim(value: number): string {
  return String(Math.round(value * 10) / 10);
}
