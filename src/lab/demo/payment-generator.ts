/** Payments and people from a seed, with what real files are like: a heavy supplier, credit notes, blank units, look-alikes. */
import { type Random, seeded } from "../../capacity/random.ts";
import type { Payment, Person } from "./payment.ts";

const rowsEachMonth = 10_000;
const suppliers = 400;
/** Of all rows: what the one heavy supplier has, and what is unusual. */
const share = { heavy: 0.13, creditNote: 0.04, blankUnit: 0.05, lookAlike: 0.03 };
const people = 48;

const units = ["Roads", "Schools", "Libraries, Archives & Info", "Adult care", "Parks", 'Museum "Old Mill"'];

/** One file for each of `periods`, 10,000 rows each. The same seed gives the same rows. */
export function generatePayments(seed: number, periods: readonly string[]): Payment[] {
  const random = seeded(seed);
  const payments: Payment[] = [];
  for (const period of periods) {
    const file = `payments-${period}.csv`;
    for (let row = 1; row <= rowsEachMonth; row++) {
      const before = payments.at(-1);
      if (before?.file === file && random.next() < share.lookAlike) payments.push({ ...before, row });
      else payments.push({ file, row, period, ...contents(random, period) });
    }
  }
  return payments;
}

function contents(random: Random, period: string): Omit<Payment, "file" | "row" | "period"> {
  const [year = 0, month = 0] = period.split("-").map(Number);
  const day = random.integer(1, new Date(Date.UTC(year, month, 0)).getUTCDate());
  const pence = Math.max(1, Math.round(Math.exp(11 + 1.6 * random.normal())));
  return {
    date: `${period}-${String(day).padStart(2, "0")}`,
    unit: random.next() < share.blankUnit ? null : random.pick(units),
    supplier: supplierName(random.next() < share.heavy ? 1 : random.integer(2, suppliers)),
    pence: random.next() < share.creditNote ? -pence : pence,
  };
}

function supplierName(number: number): string {
  return `S-${String(number).padStart(4, "0")}`;
}

/** 48 people with a bonus between 25.00 and 250.00 each. */
export function generatePeople(seed: number): Person[] {
  const random = seeded(seed + 1);
  return Array.from({ length: people }, (_, i) => ({
    person: `P-${String(i + 1).padStart(3, "0")}`,
    bonusPence: random.integer(2_500, 25_000),
  }));
}
