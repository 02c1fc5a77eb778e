/**
 * Whose clock is wrong: pure. The largest set of clocks that agree with one
 * another is taken as right, if it is more than half of all; what is outside of
 * it is named. With two clocks, or without a majority, nobody is.
 */

export interface ComparedClock {
  readonly clock: string;
  /** Against any common reference. */
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}

/** Clocks this close to each other, beyond what the comparison itself may be wrong by, agree. */
const agreeMs = 1_000;

/** @returns the names of the clocks that are off, or null when there is no majority to judge by */
export function clocksThatAreOff(clocks: readonly ComparedClock[]): string[] | null {
  let agreeing: readonly ComparedClock[] = [];
  for (const one of clocks) {
    const near = clocks.filter(
      (other) => Math.abs(other.offsetMs - one.offsetMs) <= agreeMs + other.uncertaintyMs + one.uncertaintyMs,
    );
    if (near.length > agreeing.length) agreeing = near;
  }
  if (clocks.length < 3 || agreeing.length * 2 <= clocks.length) return null;
  return clocks.filter((one) => !agreeing.includes(one)).map(({ clock }) => clock);
}
