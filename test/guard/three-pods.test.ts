/** The story of examples/bonus-three-pods: what goes wrong without, with half, and with the whole repair. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeEach(async () => {
  db = await guardDatabase();
});
afterEach(() => db.close());

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

async function runPods(...args: string[]): Promise<Report> {
  const program = "examples/bonus-three-pods/run.mjs";
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    "--url",
    db.url,
    "--json",
    ...args,
  ]);
  console.log(stdout.trim());
  return JSON.parse(stdout) as Report;
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
  const report = await runPods("--mode", "guard", "--runs", "100", "--seed", "7", "--faults");
  expect(report).toMatchObject({ months: 100, wrongMonths: 0, timesPaid: { 1: report.people } });
  expect(report.paidCents).toBe(report.dueCents);
  expect(report.recordedCents).toBe(report.dueCents);
  expect(report.killed).toBeGreaterThan(0);
  expect(report.frozen).toBeGreaterThan(0);
});
