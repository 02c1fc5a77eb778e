/**
 * Adds up work by key and by shard while a histogram streams past. Memory does
 * not grow with the number of keys: shard sums are exact, heavy keys are found
 * with the Misra-Gries method, whose error is known.
 */

/** The number by which a key is shared out: modulo the shard count it is the key's shard. */
export type KeyHash = (key: string) => number;

export interface HeavyKey {
  readonly key: string;
  /** Work of this key; a lower bound when `exact` is false. */
  readonly weight: number;
  readonly exact: boolean;
}

const keptKeys = 2_048;

export class KeyTally {
  readonly hash: KeyHash;
  readonly #counted = new Map<string, number>();
  readonly #sums: Map<number, Float64Array>;
  #kept = new Map<string, number>();
  /** The most that any kept weight, or any forgotten key, can be short of the truth. */
  #error = 0;
  #total = 0;
  #lines = 0;

  /** @param shardCounts every shard count whose balance is wanted. */
  constructor(shardCounts: readonly number[], hash: KeyHash) {
    this.hash = hash;
    this.#sums = new Map(shardCounts.map((count) => [count, new Float64Array(count)]));
  }

  /** Adds one line of the histogram. A key may come any number of times. */
  add(key: string, weight: number): void {
    this.#lines++;
    this.#total += weight;
    const hash = this.hash(key);
    for (const sums of this.#sums.values()) sums[hash % sums.length]! += weight;
    const known = this.#kept.get(key);
    if (known !== undefined) this.#kept.set(key, known + weight);
    else if (weight > 0) {
      this.#kept.set(key, weight);
      if (this.#kept.size > 2 * keptKeys) this.#shrink();
    }
  }

  get total(): number {
    return this.#total;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Keys that may hold at least `share` but whose weight is not known exactly: count these in a second pass. */
  uncertainKeys(share: number): string[] {
    return this.heavyKeys(share)
      .filter(({ exact }) => !exact)
      .map(({ key }) => key);
  }

  /** The exact weight of a key, counted in a second pass. */
  settle(key: string, weight: number): void {
    this.#counted.set(key, weight);
  }

  /** Work per shard, in shard order. */
  shardSums(count: number): Float64Array {
    const sums = this.#sums.get(count);
    if (!sums) throw new RangeError(`shard count ${count} was not asked for`);
    return sums;
  }

  /** Every key that may hold at least `share` of the total, heaviest first. */
  heavyKeys(share: number): HeavyKey[] {
    const least = share * this.#total;
    return [...this.#kept]
      .filter(([, weight]) => weight > 0 && weight + this.#error >= least)
      .map(([key, weight]) => {
        const counted = this.#counted.get(key);
        return { key, weight: counted ?? weight, exact: counted !== undefined || this.#error === 0 };
      })
      .filter(({ weight, exact }) => !exact || weight >= least)
      .sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
  }

  /** Keeps the heavier half and lowers every kept weight by the heaviest one forgotten. */
  #shrink(): void {
    const weights = Float64Array.from(this.#kept.values()).sort();
    const cut = weights[weights.length - keptKeys - 1]!;
    const kept = new Map<string, number>();
    for (const [key, weight] of this.#kept) if (weight > cut) kept.set(key, weight - cut);
    this.#kept = kept;
    this.#error += cut;
  }
}
