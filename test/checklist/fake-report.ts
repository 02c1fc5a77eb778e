/** Items that answer what a test tells them, and the report that comes of it. */
import { type Assembly, assembleReport, type ReportHead } from "../../src/checklist/assemble-report.ts";
import type {
  ChecklistItem,
  Evidence,
  ItemNumber,
  Result,
  Scope,
  Verdict,
} from "../../src/checklist/item.ts";
import type { ChecklistReport } from "../../src/checklist/report-schema.ts";
import { type ItemRun, runItems } from "../../src/checklist/run-items.ts";
import type { Waiver } from "../../src/spec/load-waivers.ts";

export const at = "2026-07-01T02:00:00.000Z";
export const now = new Date(at);
export const clusterScope: Scope = { kind: "cluster", name: "pay" };

export function evidence(change: Partial<Evidence> = {}): Evidence {
  return { kind: "query", what: "SELECT count(*) FROM execution", output: "42", at, ...change };
}

/** An answer about the cluster, with evidence. */
export function answer(verdict: Verdict, change: Partial<Result> = {}): Result {
  return { scope: clusterScope, verdict, message: `says ${verdict}`, evidence: [evidence()], ...change };
}

export function job(name: string): Scope {
  return { kind: "job", name };
}

export function fakeItem(number: number, check: ChecklistItem<unknown>["check"]): ChecklistItem<unknown> {
  return {
    number: number as ItemNumber,
    id: `fake-${number}`,
    question: `Is number ${number} as it should be?`,
    why: "Because else it breaks.",
    how: "It is looked at.",
    check,
  };
}

/** All fifteen: what is named answers so, the others pass. */
export function runsOf(
  answers: Readonly<Record<number, readonly Result[]>> = {},
  numbers: readonly number[] = Array.from({ length: 15 }, (_, i) => i),
): Promise<readonly ItemRun[]> {
  return runItems({
    items: numbers.map((number) => fakeItem(number, async () => answers[number] ?? [answer("pass")])),
    contextFor: () => undefined,
    deadlineMs: 60_000,
    cluster: "pay",
  });
}

export function head(change: Partial<ReportHead> = {}): ReportHead {
  return {
    schemaVersion: 1,
    kind: "escapement-checklist-report",
    tool: { version: "1.2.3" },
    runId: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    at,
    clock: "database",
    durationMs: 1_234,
    person: "ada",
    cluster: { id: "0b0e5d2e-53cf-4d52-8f3e-5f4f2f3a7d11", name: "pay" },
    commit: { id: "a".repeat(40), clean: true },
    definitions: { digest: "d".repeat(64), jobs: 3 },
    window: { from: "2025-06-01T02:00:00.000Z", to: change.at ?? at },
    tier: "machines",
    hosts: [{ name: "db-1", roles: ["record-store"], failureDomain: "rack-1", reached: true }],
    asked: { items: null, job: null },
    ...change,
  };
}

export const place = { file: "cluster.yaml", line: 3 };

export async function reportOf(
  answers: Readonly<Record<number, readonly Result[]>> = {},
  change: Partial<Omit<Assembly, "head">> & { readonly head?: Partial<ReportHead> } = {},
): Promise<ChecklistReport> {
  const made = head(change.head);
  const runs = change.runs ?? (await runsOf(answers));
  return assembleReport({
    waivers: [],
    definitionProblems: [],
    known: Array.from({ length: 15 }, (_, i) => i),
    locate: () => place,
    ...change,
    runs: runs.map((run) => ({ ...run, results: run.results.map((one) => seenAt(one, made.at)) })),
    head: made,
  }).report;
}

/** Evidence is as old as the run. */
function seenAt(result: Result, when: string): Result {
  return { ...result, evidence: result.evidence.map((one) => (one.at === at ? { ...one, at: when } : one)) };
}

export function waiver(item: number, scope: Waiver["scope"], change: Partial<Waiver> = {}): Waiver {
  return {
    item,
    scope,
    reason: "the disk comes in August",
    owner: "ada",
    approver: "grace",
    created: new Date("2026-06-01T00:00:00Z"),
    expires: new Date("2026-08-01T00:00:00Z"),
    at: { file: "waivers.yaml", line: 6, column: 5 },
    ...change,
  };
}
