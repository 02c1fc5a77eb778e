/** The working behind a chosen shard count: figures with formulas, and what a reader must know. */
import { formatDuration } from "../../base/duration.ts";
import { type Figure, figure } from "../figure.ts";
import { counted, formatMs } from "../format.ts";
import type { Candidate, ShardQuestion } from "./candidate.ts";
import type { KeyTally } from "./key-tally.ts";
import { ceilingMs, fewestPerNode, longestMs, shortestMs } from "./limits.ts";

export function figuresOf(chosen: Candidate, question: ShardQuestion): Record<string, Figure> {
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
    target: figure(
      "wanted time of a shard",
      targetMs,
      "ms",
      "as asked; 2 to 10 minutes is the range that works, never above 15",
      { targetMs },
      "rule.shard-target",
    ),
    spread: figure(
      "spread of shard times",
      spread,
      "ratio",
      "standard deviation ÷ mean of the time of one shard",
      { spread },
      "assumption.spread",
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
      "share",
      `${formatMs(overheadMs)} ÷ (${formatMs(overheadMs)} + ${formatMs(shardMs)})`,
      { overheadMs, shardMs },
      "assumption.overhead",
    ),
  };
  if (makespan.oneNodeLostP95Ms !== undefined) {
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

export function notesOf(chosen: Candidate, question: ShardQuestion, tally?: KeyTally): string[] {
  const { nodes, slotsPerNode, targetMs, totalMs } = question;
  const notes = ["Changing the count later means sharing out old data anew; rather start a little larger."];
  if (targetMs > longestMs)
    notes.push("The target is above 10 minutes: a failed shard costs that much again.");
  if (targetMs < shortestMs) notes.push("The target is below 2 minutes: watch the overhead.");
  if (nodes === 1) notes.push("With one node nothing takes over when it is lost.");
  const fits = Math.floor(totalMs / (fewestPerNode * shortestMs));
  if (chosen.perNode < fewestPerNode) {
    notes.push(
      `The work fills at most ${counted(Math.max(1, fits), "node")} with ${fewestPerNode} shards of 2 minutes each; more nodes do not help this job.`,
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

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export function trim(value: number): string {
  return String(Math.round(value * 10) / 10);
}
