/** How many commits share one flush when several sessions commit at a time. */

/** Sessions that commit at a time, and commits a flush, as measured (see the source `measured.group-commit`). */
const measured: readonly (readonly [sessions: number, commitsPerFlush: number])[] = [
  [1, 1],
  [2, 1.1],
  [4, 2],
  [8, 3.7],
  [16, 6.2],
  [32, 10.3],
  [64, 15.5],
];

/** Commits a flush for a number of sessions: between measured points in proportion, beyond the last one constant. */
export function commitsPerFlush(sessions: number): number {
  const last = measured.at(-1)!;
  if (sessions >= last[0]) return last[1];
  for (let i = 1; i < measured.length; i++) {
    const [above, high] = measured[i]!;
    const [below, low] = measured[i - 1]!;
    if (sessions <= above) return low + ((high - low) * (Math.max(1, sessions) - below)) / (above - below);
  }
  return 1;
}
