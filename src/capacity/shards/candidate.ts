/** A shard count under consideration, and the question it is an answer to. */
import type { Makespan } from "./makespan.ts";
import type { Skew } from "./skew.ts";

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
