/** Judges the settlement: what was paid in, against what was settled, supplier by supplier, to the penny. Pure. */
import type { Finding } from "./finding.ts";
import type { SettledRow } from "./ledger.ts";
import { formatPence, sumPence } from "./money.ts";
import { type Payment, periodsOf } from "./payment.ts";

export interface PeriodSettlement {
  readonly period: string;
  readonly payments: number;
  readonly settledPayments: number;
  readonly suppliers: number;
  readonly settledSuppliers: number;
  readonly inputPence: number;
  readonly settledPence: number;
  /** 0, or something is wrong. */
  readonly differencePence: number;
}

interface Sum {
  payments: number;
  pence: number;
}

/** More would hide the rest of the report. */
const mostFindings = 20;

/** @param rows every row of the settlement table, doubled ones included */
export function judgeSettlement(
  payments: readonly Payment[],
  rows: readonly SettledRow[],
): { periods: PeriodSettlement[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const periods = periodsOf(payments).map((period) => {
    const input = sums(payments.filter((payment) => payment.period === period));
    const settled = rows.filter((row) => row.period === period);
    findings.push(...compare(period, input, settled));
    const inputPence = sumPence([...input.values()].map((sum) => sum.pence));
    const settledPence = sumPence(settled.map((row) => row.pence));
    return {
      period,
      payments: sumPence([...input.values()].map((sum) => sum.payments)),
      settledPayments: sumPence(settled.map((row) => row.payments)),
      suppliers: input.size,
      settledSuppliers: new Set(settled.map((row) => row.supplier)).size,
      inputPence,
      settledPence,
      differencePence: settledPence - inputPence,
    };
  });
  const known = new Set(periods.map((one) => one.period));
  const strange = new Set(rows.map((row) => row.period).filter((period) => !known.has(period)));
  for (const period of strange)
    findings.push({ kind: "unexpected", what: `${period} was settled, and has no payments` });
  const rest = findings.length - mostFindings;
  if (rest > 0)
    findings.splice(mostFindings, rest, {
      kind: findings[0]!.kind,
      what: `… and ${rest} more about the settlement`,
    });
  return { periods, findings };
}

function sums(payments: readonly Payment[]): Map<string, Sum> {
  const bySupplier = new Map<string, Sum>();
  for (const { supplier, pence } of payments) {
    const sum = bySupplier.get(supplier) ?? { payments: 0, pence: 0 };
    sum.payments += 1;
    sum.pence += pence;
    bySupplier.set(supplier, sum);
  }
  return bySupplier;
}

function compare(period: string, input: ReadonlyMap<string, Sum>, settled: readonly SettledRow[]): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const row of settled) {
    const what = `${row.supplier} in ${period}`;
    const sum = input.get(row.supplier);
    if (seen.has(row.supplier))
      findings.push({ kind: "doubled", what: `${what} was settled more than once` });
    else if (!sum) findings.push({ kind: "unexpected", what: `${what} was settled, and has no payments` });
    else if (row.pence !== sum.pence || row.payments !== sum.payments) {
      const is = `${formatPence(row.pence)} from ${row.payments} payments`;
      const should = `${formatPence(sum.pence)} from ${sum.payments}`;
      findings.push({ kind: "wrong", what: `${what} was settled with ${is} instead of ${should}` });
    }
    seen.add(row.supplier);
  }
  for (const [supplier, sum] of input) {
    if (!seen.has(supplier))
      findings.push({
        kind: "lost",
        what: `${supplier} in ${period} was not settled (${formatPence(sum.pence)})`,
      });
  }
  return findings;
}
