/**
 * What the watchman remembers of jobs between passes: definitions and pauses,
 * which never change once recorded, and the last success, below which nothing
 * has to be searched again.
 */
import type { StateChange, VersionRow } from "../store/watch/jobs.ts";
import type { Baseline, WatchedDefinition, WatchedJob } from "./picture.ts";

export interface RememberedSuccess {
  readonly fireTime: Date;
  readonly rows: number | null;
}

export class JobMemory {
  readonly #definitions = new Map<number, WatchedDefinition[]>();
  readonly #changes = new Map<number, StateChange[]>();
  readonly #seenOperations = new Set<number>();
  readonly successes = new Map<number, RememberedSuccess>();
  readonly baselines = new Map<number, Baseline>();
  #lastOperationId = 0;

  /** Operations are numbered when they begin and seen when they are committed: the last ones are asked for again. */
  get operationsAfter(): number {
    return Math.max(0, this.#lastOperationId - 1_000);
  }

  /** The newest version known of a job; 0 for none. */
  versionOf(jobId: number): number {
    return this.#definitions.get(jobId)?.at(-1)?.version ?? 0;
  }

  definitionsOf(jobId: number): readonly WatchedDefinition[] {
    return this.#definitions.get(jobId) ?? [];
  }

  learnVersions(rows: readonly VersionRow[]): void {
    for (const { jobId, version, digest, effectiveFrom, appliedBy, definition } of rows) {
      const known = this.#definitions.get(jobId) ?? [];
      this.#definitions.set(jobId, [...known, { version, digest, effectiveFrom, appliedBy, ...definition }]);
    }
  }

  learnChanges(rows: readonly StateChange[]): void {
    for (const change of rows) {
      if (this.#seenOperations.has(change.operationId)) continue;
      this.#seenOperations.add(change.operationId);
      this.#lastOperationId = Math.max(this.#lastOperationId, change.operationId);
      const known = this.#changes.get(change.jobId) ?? [];
      this.#changes.set(
        change.jobId,
        [...known, change].sort((a, b) => a.operationId - b.operationId),
      );
    }
  }

  /** When a job did not fire, from what was recorded and, where that leaves a question, from its state. */
  pausesOf(job: { jobId: number; state: "active" | "paused"; stateSince: Date }): WatchedJob["pauses"] {
    return pausesFrom(this.#changes.get(job.jobId) ?? [], job);
  }

  forget(alive: ReadonlySet<number>): void {
    for (const map of [this.#definitions, this.successes, this.baselines] as Map<number, unknown>[])
      for (const jobId of map.keys()) if (!alive.has(jobId)) map.delete(jobId);
  }
}

/** Stretches between a pause and its end. */
export function pausesFrom(
  changes: readonly Pick<StateChange, "at" | "action">[],
  job: { readonly state: "active" | "paused"; readonly stateSince: Date },
): { from: Date; to: Date | null }[] {
  const pauses: { from: Date; to: Date | null }[] = [];
  for (const { at, action } of changes) {
    const open = pauses.at(-1)?.to === null ? pauses.at(-1)! : null;
    if (action === "jobs pause" && !open) pauses.push({ from: at, to: null });
    if (action !== "jobs pause" && open) open.to = at;
  }
  const last = pauses.at(-1);
  if (job.state === "paused" && last?.to !== null) pauses.push({ from: job.stateSince, to: null });
  if (job.state === "active" && last?.to === null) last.to = job.stateSince;
  return pauses;
}
