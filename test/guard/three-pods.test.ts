/** The story of examples/bonus-three-pods: what goes wrong without, with half, and with the whole repair. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { guardDatabase } from "./guard-database.ts";

interface Report {
  readonly months: number;
  readonly wrongMonths: number;
  readonly people: number;
  readonly dueCents: number;
  readonly paidCents: number;
  readonly recordedCents: number;
  readonly killed: number;
  readonly frozen: number;
  readonly timesPaid: Readonly<Record<string, number>>;
}

/** Months of payments in a database of their own. */
async function runPods(...args: string[]): Promise<Report> {
  const db = await guardDatabase();
  try {
    const program = "examples/bonus-three-pods/run.mjs";
    const all = [program, "--url", db.url, "--json", ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all);
    console.log(stdout.trim());
    return JSON.parse(stdout) as Report;
  } finally {
    await db.close();
  }
}

test("three pods with a cron each and nothing else pay two to three times", async () => {
  const report = await runPods("--mode", "none", "--runs", "8", "--seed", "1");
  expect(report.wrongMonths).toBe(8);
  expect(report.paidCents / report.dueCents).toBeGreaterThan(1.5);
  expect(report.paidCents / report.dueCents).toBeLessThanOrEqual(3);
});

test("a lock whose holder is paused past its time to live still pays twice", {
  timeout: 180_000,
}, async () => {
  const report = await runPods("--mode", "lock", "--runs", "25", "--seed", "1", "--faults");
  expect(report.frozen).toBeGreaterThan(0);
  expect(report.wrongMonths).toBeGreaterThan(0);
  expect(report.timesPaid["2"]).toBeGreaterThan(0);
  expect(report.paidCents).toBeGreaterThan(report.dueCents);
});

test("with the guard a hundred months are right to the penny, pods killed and frozen or not", {
  timeout: 600_000,
}, async () => {
  // Four times three pods at once: they mostly wait for leases to end.
  const reports = await Promise.all(
    ["7", "8", "9", "10"].map((seed) =>
      runPods("--mode", "guard", "--runs", "25", "--seed", seed, "--faults"),
    ),
  );
  for (const report of reports) {
    expect(report).toMatchObject({ months: 25, wrongMonths: 0, timesPaid: { 1: report.people } });
    expect(report.paidCents).toBe(report.dueCents);
    expect(report.recordedCents).toBe(report.dueCents);
  }
  expect(reports.some((report) => report.killed > 0)).toBe(true);
  expect(reports.some((report) => report.frozen > 0)).toBe(true);
});
