/** Ordinary least squares for a few columns, with what is needed to draw from its predictions. */

export interface Regression {
  readonly coefficients: readonly number[];
  /** Standard deviation of the residuals, corrected for the columns. */
  readonly residual: number;
  /** Share of the variance that is explained, 0 to 1. */
  readonly explained: number;
  /** Standard deviation of a new observation at these column values. */
  spreadAt(row: readonly number[]): number;
  at(row: readonly number[]): number;
}

/** @returns undefined when the columns do not determine the coefficients (one is constant, or two say the same). */
export function regress(
  rows: readonly (readonly number[])[],
  values: readonly number[],
): Regression | undefined {
  const columns = rows[0]?.length ?? 0;
  if (rows.length <= columns) return undefined;
  const normal = Array.from({ length: columns }, () => new Array<number>(columns).fill(0));
  const right = new Array<number>(columns).fill(0);
  rows.forEach((row, r) => {
    for (let i = 0; i < columns; i++) {
      right[i]! += row[i]! * values[r]!;
      for (let j = 0; j < columns; j++) normal[i]![j]! += row[i]! * row[j]!;
    }
  });
  const inverse = invert(normal);
  if (!inverse) return undefined;
  const coefficients = inverse.map((line) => line.reduce((sum, value, j) => sum + value * right[j]!, 0));
  const at = (row: readonly number[]) => row.reduce((sum, value, i) => sum + value * coefficients[i]!, 0);
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  let squares = 0;
  let total = 0;
  rows.forEach((row, r) => {
    squares += (values[r]! - at(row)) ** 2;
    total += (values[r]! - average) ** 2;
  });
  const residual = Math.sqrt(squares / (rows.length - columns));
  const spreadAt = (row: readonly number[]) => {
    const leverage = row.reduce(
      (sum, value, i) => sum + value * inverse[i]!.reduce((inner, one, j) => inner + one * row[j]!, 0),
      0,
    );
    return residual * Math.sqrt(1 + Math.max(0, leverage));
  };
  return { coefficients, residual, explained: total === 0 ? 0 : 1 - squares / total, spreadAt, at };
}

/** Gauss-Jordan with pivoting; undefined for a singular matrix. */
function invert(matrix: readonly (readonly number[])[]): number[][] | undefined {
  const size = matrix.length;
  const work = matrix.map((row, i) => [...row, ...Array.from({ length: size }, (_, j) => Number(i === j))]);
  const scale = Math.max(...matrix.map((row, i) => Math.abs(row[i]!)));
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(work[row]![column]!) > Math.abs(work[pivot]![column]!)) pivot = row;
    const size2 = Math.abs(work[pivot]![column]!);
    if (size2 <= scale * 1e-12) return undefined;
    [work[column], work[pivot]] = [work[pivot]!, work[column]!];
    const head = work[column]![column]!;
    for (let j = 0; j < 2 * size; j++) work[column]![j]! /= head;
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = work[row]![column]!;
      for (let j = 0; j < 2 * size; j++) work[row]![j]! -= factor * work[column]![j]!;
    }
  }
  return work.map((row) => row.slice(size));
}
