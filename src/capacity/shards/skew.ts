/** What an uneven key distribution does to shards, and which keys to split off. */
import type { HeavyKey, KeyHash } from "./key-tally.ts";

/** The rule's limit: a key with more than this share of the work is split off. */
export const heavyShare = 0.1;

export interface SplitKey {
  readonly key: string;
  /** Share of all work, 0 to 1. */
  readonly share: number;
  readonly ms: number;
  /** Shards this key gets for itself. */
  readonly parts: number;
  readonly why: string;
}

export interface SkewInput {
  readonly sums: Float64Array;
  readonly total: number;
  readonly heavy: readonly HeavyKey[];
  readonly hash: KeyHash;
  readonly totalMs: number;
  readonly targetMs: number;
  /** No shard may run longer. */
  readonly ceilingMs: number;
}

export interface Skew {
  /** Mean work of each shard after splitting, ms; ordinary shards first, then those of split keys. */
  readonly shardMs: readonly number[];
  readonly ordinaryShards: number;
  readonly split: readonly SplitKey[];
  /** Longest shard over mean shard, before and after splitting. */
  readonly imbalanceBefore: number;
  readonly imbalanceAfter: number;
  readonly longestMs: number;
  /** Shards without any work. */
  readonly empty: number;
}

/** Splits heavy keys off the shards they hash to. Keys above the tenth are split, and so are keys that alone exceed the ceiling. */
export function measureSkew(input: SkewInput): Skew {
  const { sums, total, totalMs, targetMs, ceilingMs } = input;
  const msPerUnit = total === 0 ? 0 : totalMs / total;
  const rest = Float64Array.from(sums);
  const split: SplitKey[] = [];
  for (const { key, weight } of input.heavy) {
    const share = total === 0 ? 0 : weight / total;
    const ms = weight * msPerUnit;
    const above = share > heavyShare;
    if (!above && ms <= ceilingMs) continue;
    rest[input.hash(key) % sums.length]! -= weight;
    const parts = Math.max(1, Math.ceil(ms / targetMs - 1e-9));
    const percent = `${(share * 100).toFixed(1)} % of the work`;
    split.push({
      key,
      share,
      ms,
      parts,
      why: above ? `${percent}, above one tenth` : `${percent}, alone longer than a shard may run`,
    });
  }
  const before = [...sums].map((weight) => weight * msPerUnit);
  // Taking a weight out of a floating-point sum can leave a tiny negative rest.
  const ordinary = [...rest].map((weight) => Math.max(0, weight) * msPerUnit);
  const own = split.flatMap(({ ms, parts }) => new Array<number>(parts).fill(ms / parts));
  const shardMs = [...ordinary, ...own];
  return {
    shardMs,
    ordinaryShards: sums.length,
    split,
    imbalanceBefore: imbalance(before),
    imbalanceAfter: imbalance(shardMs),
    longestMs: largest(shardMs),
    empty: ordinary.filter((ms) => ms === 0).length,
  };
}

function imbalance(values: readonly number[]): number {
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  return average === 0 ? 1 : largest(values) / average;
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
