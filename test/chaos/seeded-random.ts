/** Random choices that a seed repeats exactly. */

/** A generator by the "mulberry32" recurrence: 32 bits of state, good enough to choose cases. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("nothing to pick from");
    return items[this.between(0, items.length - 1)]!;
  }
}

/** The seed of this run: the environment variable `name`, or a fresh one. Print it. */
export function seedFrom(name: string): number {
  const given = process.env[name];
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}
