/** Reads the jobs of a picture: how each is defined, what it owes, what runs and what is usual for it. */
import type { Queryable } from "../store/database.ts";
import {
  type LiveRow,
  type ProgressRow,
  readBaselines,
  readLive,
  readProgress,
  readRowsDone,
} from "../store/watch/executions.ts";
import {
  readDigests,
  readStateChanges,
  readVersionsAfter,
  readWatchedJobs,
  type WatchedJobRow,
} from "../store/watch/jobs.ts";
import type { DigestBook } from "./digest-book.ts";
import { JobMemory } from "./job-memory.ts";
import type { TamperedDefinition, WatchedJob } from "./picture.ts";

/** No success older than this is looked for. */
const longestMs = 400 * 86_400_000;
/** Figures of what is usual are renewed for so many jobs a pass. */
const baselinesPerPass = 100;
const rowsPerPass = 500;

export class JobReader {
  readonly #digests: DigestBook;
  readonly #memory = new JobMemory();
  #tampered: readonly TamperedDefinition[] = [];
  #baselineAt = 0;

  constructor(digests: DigestBook) {
    this.#digests = digests;
  }

  /** As the last comparison of the digests found them. */
  get tampered(): readonly TamperedDefinition[] {
    return this.#tampered;
  }

  /** @param slow whether the digests of all definitions are compared, too */
  async read(tx: Queryable, now: Date, slow: boolean): Promise<WatchedJob[]> {
    const memory = this.#memory;
    const rows = await readWatchedJobs(tx);
    const ids = rows.map(({ jobId }) => jobId);
    memory.forget(new Set(ids));
    const stale = rows.filter(({ jobId, version }) => memory.versionOf(jobId) < version);
    memory.learnVersions(
      await readVersionsAfter(
        tx,
        stale.map(({ jobId }) => ({ jobId, version: memory.versionOf(jobId) })),
      ),
    );
    memory.learnChanges(await readStateChanges(tx, memory.operationsAfter));
    if (slow) this.#tampered = this.#digests.compare(await readDigests(tx));
    const floors = rows.map((row) => memory.successes.get(row.jobId)?.fireTime ?? floorOf(row, now));
    const progress = new Map((await readProgress(tx, ids, floors, now)).map((row) => [row.jobId, row]));
    await this.#learnSuccesses(tx, progress);
    await this.#learnBaselines(tx, ids, now);
    const live = groupByJob(await readLive(tx, now));
    return rows.map((row) => this.#job(row, progress.get(row.jobId), live.get(row.jobId) ?? []));
  }

  #job(row: WatchedJobRow, progress: ProgressRow | undefined, live: readonly LiveRow[]): WatchedJob {
    const { jobId } = row;
    const memory = this.#memory;
    const success = progress?.lastSuccess ?? null;
    return {
      ...row,
      definitions: memory.definitionsOf(jobId),
      pauses: memory.pausesOf(row),
      lastSuccess: success && { ...success, rows: memory.successes.get(jobId)?.rows ?? null },
      sinceSuccess: progress?.since ?? [],
      live,
      baseline: memory.baselines.get(jobId) ?? null,
    };
  }

  /** Rows done are read once for each new success; those of the first pass are many, and are left out. */
  async #learnSuccesses(tx: Queryable, progress: ReadonlyMap<number, ProgressRow>): Promise<void> {
    const fresh: { jobId: number; fireTime: Date }[] = [];
    for (const { jobId, lastSuccess } of progress.values()) {
      if (!lastSuccess) continue;
      const known = this.#memory.successes.get(jobId);
      if (known?.fireTime.getTime() === lastSuccess.fireTime.getTime()) continue;
      this.#memory.successes.set(jobId, { fireTime: lastSuccess.fireTime, rows: null });
      fresh.push({ jobId, fireTime: lastSuccess.fireTime });
    }
    for (const { jobId, fireTime, rows } of await readRowsDone(tx, fresh.slice(0, rowsPerPass)))
      this.#memory.successes.set(jobId, { fireTime, rows });
  }

  /** A slice of the jobs each pass, those without figures first. */
  async #learnBaselines(tx: Queryable, ids: readonly number[], now: Date): Promise<void> {
    const { baselines } = this.#memory;
    const missing = ids.filter((jobId) => !baselines.has(jobId)).slice(0, baselinesPerPass);
    const turn = missing.length > 0 ? missing : rotated(ids, this.#baselineAt, baselinesPerPass);
    if (missing.length === 0 && ids.length > 0)
      this.#baselineAt = (this.#baselineAt + baselinesPerPass) % ids.length;
    for (const { jobId, ...figures } of await readBaselines(
      tx,
      turn,
      new Date(now.getTime() - longestMs),
      now,
    ))
      baselines.set(jobId, figures);
  }
}

function floorOf(row: WatchedJobRow, now: Date): Date {
  return new Date(Math.max(row.knownSince.getTime(), now.getTime() - longestMs));
}

function rotated(ids: readonly number[], from: number, count: number): number[] {
  return [...ids.slice(from, from + count), ...ids.slice(0, Math.max(0, from + count - ids.length))].slice(
    0,
    count,
  );
}

function groupByJob(rows: readonly LiveRow[]): Map<number, LiveRow[]> {
  const byJob = new Map<number, LiveRow[]>();
  for (const row of rows) {
    const list = byJob.get(row.jobId);
    if (list) list.push(row);
    else byJob.set(row.jobId, [row]);
  }
  return byJob;
}
