/** The few statistics the calculators need. */

/** The value below which `share` (0 to 1) of the sample lies; linear between neighbours. Empty sample: NaN. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const low = Math.floor(position);
  const below = sorted[low];
  if (below === undefined) return Number.NaN;
  const above = sorted[Math.min(low + 1, sorted.length - 1)]!;
  return below + (above - below) * (position - low);
}
