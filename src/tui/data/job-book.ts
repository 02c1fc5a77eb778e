/**
 * All jobs, kept up to date a slice at a time.
 *
 *   ┌▶ slice: jobs by number ▶ new definitions ▶ counts and latest fires ─┐
 *   └───── wait, so that the store is busy a tenth of the time ◀───────┘
 *
 * Slices shrink while queries usually take longer than {@link aimMs}, and grow
 * while they take less than half of it. Counts are read from a floor on: the quarter hour in which
 * something of the job may still change. Now and then the floor is the whole day,
 * because a rerun changes the past.
 */
import { messageOf } from "../../base/errors.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { Queryable } from "../../store/database.ts";
import { jobLabel } from "../../store/job.ts";
import {
  binMs,
  countFires,
  type DefinitionLook,
  definitionLooks,
  type FireLook,
  type JobLook,
  jobsAfter,
  latestFires,
  latestTrouble,
  oldestLive,
} from "../../store/ui/job-slice.ts";
import { addBins, binOf, earliestUnfinished, replaceBins, timelineBins } from "./day.ts";
import { type JobEntry, lateFromMs, unplannedFires } from "./job-entry.ts";
import { type JobsView, viewOf } from "./jobs-view.ts";

/** Milliseconds that a query usually takes, as this side measures them: well below the 5 that the slowest may. */
const aimMs = 2;
const slices = { first: 100, least: 20, most: 400 };
/** One slow answer says nothing: the machine may have been busy elsewhere. */
const weightOfLast = 0.25;
const keptFires = 12;
const keptTrouble = 8;
/** The latest fire of a job is looked for this far back. */
const lookBackMs = 35 * 86_400_000;
const wholeDayEveryMs = 600_000;

interface Kept {
  entry: JobEntry;
  /** The floor of the next count. */
  floorBin: number;
  wholeDayAtMs: number;
}

export class JobBook {
  readonly #db: Queryable;
  readonly #kept = new Map<number, Kept>();
  #seen = new Set<number>();
  #after = 0;
  #size = slices.first;
  #slowestMs = 0;
  #usualMs = aimMs / 2;
  /** The bin of the oldest unfinished fire of each job that has one, now and a cycle ago. */
  #live: ReadonlyMap<number, number> = new Map();
  #wasLive: ReadonlyMap<number, number> = new Map();
  #cycles = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** The longest query of the last slice, milliseconds. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  /** Reads the next slice. @param now the database's time. @returns true at the end of a cycle through all jobs */
  async step(now: Date): Promise<boolean> {
    this.#slowestMs = 0;
    if (this.#after === 0) await this.#readLive(now);
    const limit = this.#size;
    const jobs = await this.#timed(() => jobsAfter(this.#db, this.#after, limit));
    const definitions = await this.#definitionsOf(jobs);
    const nowMs = now.getTime();
    const oldestBin = binOf(nowMs) - timelineBins + 1;
    const asked = jobs.map((job) => {
      const kept = this.#kept.get(job.jobId);
      const definition = definitions.get(job.jobId) ?? kept!.entry.definition;
      const floorBin = this.#floorOf(job.jobId, kept, nowMs, oldestBin);
      return { job, kept, definition, floorBin, lateMs: lateFromMs(definition) };
    });
    const wanted = asked.map(({ job, floorBin, lateMs }) => ({
      jobId: job.jobId,
      floor: new Date(floorBin * binMs),
      lateMs,
    }));
    const from = new Date(Math.min(...asked.map(({ floorBin }) => floorBin)) * binMs);
    const counts = new Map(
      (await this.#timed(() => countFires(this.#db, wanted, from, now))).map((one) => [one.jobId, one.bins]),
    );
    const fires = await this.#fires(asked, now);
    for (const { job, kept, definition, floorBin } of asked) {
      const bins = replaceBins(kept?.entry.bins ?? [], counts.get(job.jobId) ?? [], floorBin, oldestBin);
      const problem = problemOf(definition);
      const entry: JobEntry = {
        ...job,
        label: jobLabel(job),
        definition,
        problem,
        bins,
        fires: fires.get(job.jobId) ?? kept?.entry.fires ?? [],
        trouble: (kept?.entry.trouble ?? []).filter(({ fireTime }) => fireTime.getTime() < floorBin * binMs),
        unplannedMs: unplannedFires({ ...job, definition, problem }, nowMs),
      };
      const wholeDay = floorBin === oldestBin;
      this.#kept.set(job.jobId, {
        entry,
        floorBin: Math.min(earliestUnfinished(bins) ?? Number.POSITIVE_INFINITY, binOf(nowMs) - 1),
        wholeDayAtMs: wholeDay ? nowMs : (kept?.wholeDayAtMs ?? nowMs),
      });
      this.#seen.add(job.jobId);
    }
    await this.#readTrouble(asked, now, oldestBin);
    this.#adapt();
    if (jobs.length === limit) {
      this.#after = jobs.at(-1)!.jobId;
      return false;
    }
    this.#endCycle();
    return true;
  }

  /** Everything known now. */
  view(nowMs: number): JobsView {
    const entries = [...this.#kept.values()].map(({ entry }) => entry);
    return viewOf(entries, addBins(entries.map(({ bins }) => bins)), nowMs, this.#cycles > 0);
  }

  async #readLive(now: Date): Promise<void> {
    const live = await this.#timed(() => oldestLive(this.#db, now));
    // What was live and is no more has ended: it is counted once more.
    this.#wasLive = this.#live;
    this.#live = new Map(live.map(({ jobId, fireTime }) => [jobId, binOf(fireTime.getTime())]));
  }

  async #definitionsOf(jobs: readonly JobLook[]): Promise<Map<number, DefinitionLook>> {
    const wanted = jobs.filter(({ jobId, version }) => this.#kept.get(jobId)?.entry.version !== version);
    const found = await this.#timed(() => definitionLooks(this.#db, wanted));
    return new Map(found.map(({ jobId, definition }) => [jobId, definition]));
  }

  #floorOf(jobId: number, kept: Kept | undefined, nowMs: number, oldestBin: number): number {
    if (!kept || nowMs - kept.wholeDayAtMs > wholeDayEveryMs) return oldestBin;
    const live = [this.#live.get(jobId), this.#wasLive.get(jobId)].filter((bin) => bin !== undefined);
    return Math.max(oldestBin, Math.min(kept.floorBin, ...live));
  }

  /** The latest fires: of new jobs from far back, of known ones from the floor on, laid over the old. */
  async #fires(
    asked: readonly { readonly job: JobLook; readonly kept: Kept | undefined; readonly floorBin: number }[],
    now: Date,
  ): Promise<Map<number, readonly FireLook[]>> {
    const result = new Map<number, readonly FireLook[]>();
    const groups = [asked.filter(({ kept }) => !kept), asked.filter(({ kept }) => kept)];
    for (const group of groups) {
      const wanted = group.map(({ job, kept, floorBin }) => ({
        jobId: job.jobId,
        floor: kept ? new Date(floorBin * binMs) : new Date(now.getTime() - lookBackMs),
      }));
      const from = new Date(Math.min(...wanted.map(({ floor }) => floor.getTime()), now.getTime()));
      const found = await this.#timed(() => latestFires(this.#db, wanted, from, now, keptFires));
      const byJob = new Map(found.map(({ jobId, fires }) => [jobId, fires]));
      for (const { job, kept, floorBin } of group) {
        const older = (kept?.entry.fires ?? []).filter(
          ({ fireTime }) => fireTime.getTime() < floorBin * binMs,
        );
        result.set(job.jobId, [...(byJob.get(job.jobId) ?? []), ...older].slice(0, keptFires));
      }
    }
    return result;
  }

  /** Names and reasons of what went wrong, only for jobs in whose counts it shows. */
  async #readTrouble(
    asked: readonly { readonly job: JobLook; readonly floorBin: number }[],
    now: Date,
    oldestBin: number,
  ): Promise<void> {
    const wanted = asked.flatMap(({ job, floorBin }) => {
      const { entry } = this.#kept.get(job.jobId)!;
      const wrong = entry.bins.some(
        ({ bin, failed, missed, refused }) => bin >= floorBin && failed + missed + refused > 0,
      );
      return wrong ? [{ jobId: job.jobId, floor: new Date(floorBin * binMs) }] : [];
    });
    const from = new Date(oldestBin * binMs);
    for (const { jobId, fires } of await this.#timed(() =>
      latestTrouble(this.#db, wanted, from, now, keptTrouble),
    )) {
      const kept = this.#kept.get(jobId)!;
      kept.entry = { ...kept.entry, trouble: [...fires, ...kept.entry.trouble].slice(0, keptTrouble) };
    }
  }

  #adapt(): void {
    this.#usualMs += (this.#slowestMs - this.#usualMs) * weightOfLast;
    if (this.#usualMs > aimMs) this.#size = Math.max(slices.least, Math.floor(this.#size * 0.8));
    else if (this.#usualMs < aimMs / 2) this.#size = Math.min(slices.most, Math.ceil(this.#size * 1.25));
  }

  #endCycle(): void {
    for (const jobId of this.#kept.keys()) if (!this.#seen.has(jobId)) this.#kept.delete(jobId);
    this.#seen = new Set();
    this.#after = 0;
    this.#cycles += 1;
  }

  async #timed<T>(query: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const result = await query();
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - started);
    return result;
  }
}

function problemOf(definition: DefinitionLook): string | null {
  try {
    jobSchedule(definition);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
