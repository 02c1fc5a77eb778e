/** Plants failures through the store's own functions, and asks for the diagnosis. */
import { expect } from "vitest";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import type { ClaimedShard } from "../../../src/store/claim.ts";
import { type AttemptOutcome, completeAttempts } from "../../../src/store/completion.ts";
import type { JobRow } from "../../../src/store/job.ts";
import { openDue } from "../../../src/store/opening.ts";
import { diagnoseWindow } from "../../../src/watchman/diagnose/diagnose-window.ts";
import type { Diagnosis } from "../../../src/watchman/diagnose/diagnosis.ts";
import { readWindow } from "../../../src/watchman/diagnose/read-window.ts";
import { Bench } from "../../store/bench.ts";
import { testJob } from "../../support/job.ts";

/** `class cause`, `class+also cause`, with `?` where it is only likely and `!` where it was intended. */
export function brief({ class: kind, also, cause, certain, intended }: Diagnosis): string {
  return `${[kind, ...also].join("+")} ${cause}${certain ? "" : "?"}${intended ? "!" : ""}`;
}

export async function diagnose(bench: Bench, job?: JobRow): Promise<Diagnosis[]> {
  const [from, to] = [await bench.at(-3_600_000), await bench.at(60_000)];
  const read = await readWindow(bench.db, { ...(job ? { jobId: job.jobId } : {}), from, to });
  return [...diagnoseWindow(read.rows, from, to).diagnoses];
}

export async function end(
  bench: Bench,
  executor: string,
  claims: readonly ClaimedShard[],
  change: { outcome: AttemptOutcome; exitCode?: number; error?: string; rows?: number; delayMs?: number },
): Promise<boolean[]> {
  return completeAttempts(
    bench.db,
    executor,
    claims.map((claim) => ({
      ...claim,
      outcome: change.outcome,
      delayMs: change.delayMs ?? 0,
      rows: change.rows ?? null,
      exitCode: change.exitCode ?? null,
      error: change.error ?? null,
    })),
  );
}

export interface Case {
  readonly what: string;
  readonly job?: Partial<JobDefinition>;
  readonly plant: (bench: Bench, job: JobRow) => Promise<unknown>;
  /** Of the fires of the job, by time. */
  readonly expected: readonly string[];
}

/** Plants a case in a store of its own, and checks the verdict, its evidence and its command. */
export async function judgeCase({ job, plant, expected }: Case): Promise<void> {
  const bench = await Bench.open();
  const applied = await bench.apply(testJob("settlement", job));
  await plant(bench, applied);
  const found = await diagnose(bench, applied);
  expect(found.map(brief), JSON.stringify(found, null, 1)).toEqual(expected);
  for (const one of found) {
    expect(one.evidence.length).toBeGreaterThan(0);
    expect(one.next).toMatch(/^(escapement |journalctl )/);
  }
}

export async function opened(bench: Bench, job: JobRow, ...offsetsMs: number[]): Promise<Date[]> {
  const fires = [];
  for (const offset of offsetsMs) fires.push(await bench.at(offset));
  await bench.plan(job, fires);
  await openDue(bench.db);
  return fires;
}

export async function leaseOf(bench: Bench, incarnation: string): Promise<Date> {
  return bench.value("SELECT lease_until FROM escapement.executor WHERE incarnation = $1", [incarnation]);
}
