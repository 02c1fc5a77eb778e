/** The input of the demo: payments to suppliers, in one file a month, and people who get a bonus. */

export interface Payment {
  /** Name of the file it came from; with `row` its identity, since payments may look alike. */
  readonly file: string;
  readonly row: number;
  /** The month it is settled in, as `2026-07`. */
  readonly period: string;
  /** As `2026-07-31`. */
  readonly date: string;
  /** Empty in some rows of real files. */
  readonly unit: string | null;
  readonly supplier: string;
  /** Negative for a credit note. */
  readonly pence: number;
}

export interface Person {
  readonly person: string;
  readonly bonusPence: number;
}

/** The supplier with the most rows, and how many those are: it gets a shard of its own. */
export function heaviestSupplier(payments: readonly Payment[]): { supplier: string; rows: number } {
  const rows = new Map<string, number>();
  for (const { supplier } of payments) rows.set(supplier, (rows.get(supplier) ?? 0) + 1);
  let heaviest = { supplier: "", rows: 0 };
  for (const [supplier, count] of rows) if (count > heaviest.rows) heaviest = { supplier, rows: count };
  return heaviest;
}

/** The months there are payments of, ascending. */
export function periodsOf(payments: readonly Payment[]): string[] {
  return [...new Set(payments.map((payment) => payment.period))].sort();
}
