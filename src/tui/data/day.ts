/** What a day was like, from the bins of all jobs: totals since midnight UTC, and 24 hours in quarters. */
import { binMs, type FireBin } from "../../store/ui/job-slice.ts";

export type FireTotals = Omit<FireBin, "bin">;

export const noFires: FireTotals = {
  done: 0,
  running: 0,
  waiting: 0,
  failed: 0,
  missed: 0,
  refused: 0,
  late: 0,
};

/** Quarter hours in the time-line. */
export const timelineBins = 96;

export function binOf(ms: number): number {
  return Math.floor(ms / binMs);
}

/** The first bin of the UTC day. */
export function firstBinOfDay(nowMs: number): number {
  return binOf(nowMs - (nowMs % 86_400_000));
}

/** Adds bins together, oldest first. */
export function addBins(lists: Iterable<readonly FireBin[]>): Map<number, FireBin> {
  const sums = new Map<number, { -readonly [Key in keyof FireBin]: FireBin[Key] }>();
  for (const list of lists) {
    for (const one of list) {
      const sum = sums.get(one.bin);
      if (!sum) {
        sums.set(one.bin, { ...one });
        continue;
      }
      addFires(sum, one);
    }
  }
  return sums;
}

function addFires(sum: { -readonly [Key in keyof FireTotals]: FireTotals[Key] }, one: FireTotals): void {
  sum.done += one.done;
  sum.running += one.running;
  sum.waiting += one.waiting;
  sum.failed += one.failed;
  sum.missed += one.missed;
  sum.refused += one.refused;
  sum.late += one.late;
}

export function totalsFrom(bins: Iterable<FireBin>, firstBin: number): FireTotals {
  const sum = { ...noFires } as { -readonly [Key in keyof FireTotals]: FireTotals[Key] };
  for (const one of bins) {
    if (one.bin >= firstBin) addFires(sum, one);
  }
  return sum;
}

/** Fires that have a record. */
export function allOf(fires: FireTotals): number {
  return fires.done + fires.running + fires.waiting + fires.failed + fires.missed + fires.refused;
}

/** The 96 quarters that end with the one of now, oldest first; those without fires are all zero. */
export function timeline(sums: ReadonlyMap<number, FireBin>, nowMs: number): FireBin[] {
  const last = binOf(nowMs);
  return Array.from({ length: timelineBins }, (_, i) => {
    const bin = last - timelineBins + 1 + i;
    return sums.get(bin) ?? { bin, ...noFires };
  });
}

/** New bins laid over old ones: all from `floorBin` on are replaced, all before `oldestBin` dropped. */
export function replaceBins(
  old: readonly FireBin[],
  fresh: readonly FireBin[],
  floorBin: number,
  oldestBin: number,
): readonly FireBin[] {
  const kept = old.filter(({ bin }) => bin >= oldestBin && bin < floorBin);
  return [...kept, ...[...fresh].sort((a, b) => a.bin - b.bin)];
}

/** The earliest bin in which something may still change by itself, or null. */
export function earliestUnfinished(bins: readonly FireBin[]): number | null {
  return bins.find(({ running, waiting }) => running + waiting > 0)?.bin ?? null;
}
