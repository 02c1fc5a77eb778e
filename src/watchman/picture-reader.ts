/**
 * Reads one picture of the cluster in one read-only transaction: all of it is
 * one snapshot, so that no two parts of it can contradict each other.
 */
import type { Database, Queryable } from "../store/database.ts";
import {
  readClockSteps,
  readExecutorViews,
  readLeaderView,
  readSchedulerViews,
} from "../store/watch/base.ts";
import {
  findAbsent,
  type LiveRow,
  type ProgressRow,
  readBaselines,
  readLive,
  readProgress,
  readRowsDone,
} from "../store/watch/executions.ts";
import { readServerHealth, readStoreDisks } from "../store/watch/health.ts";
import {
  readDigests,
  readStateChanges,
  readVersionsAfter,
  readWatchedJobs,
  type WatchedJobRow,
} from "../store/watch/jobs.ts";
import { readBacklogSample, readFailed, readShardTrouble } from "../store/watch/trouble.ts";
import type { DigestBook } from "./digest-book.ts";
import { type AuditSettings, FireAudit } from "./fire-audit.ts";
import { JobMemory } from "./job-memory.ts";
import type {
  BacklogSample,
  ClockReading,
  Picture,
  StoreHealth,
  TamperedDefinition,
  WatchedJob,
  WatchedScheduler,
} from "./picture.ts";
import type { WatchSettings } from "./settings.ts";
import { parseTimeSource } from "./time-source-row.ts";

/** No success older than this is looked for. */
const longestMs = 400 * 86_400_000;
const stepShownMs = 60 * 60_000;
/** `-infinity` of the store, as a Date. */
const longAgoMs = -8e15;
/** Slow looks (the server, the digests) are taken every so many passes. */
const slowEvery = 10;
/** Figures of what is usual are renewed for so many jobs a pass. */
const baselinesPerPass = 100;
const rowsPerPass = 500;

export interface OwnClock {
  /** This host's clock against the database's, as last measured; null before the first time. */
  readings(): readonly ClockReading[];
  source(): Picture["clockSource"];
}

export class PictureReader {
  readonly #db: Database;
  readonly #settings: WatchSettings;
  readonly #digests: DigestBook;
  readonly #clock: OwnClock;
  readonly #memory = new JobMemory();
  readonly #audit: FireAudit;
  #backlog: BacklogSample[] = [];
  #health: StoreHealth | null = null;
  #tampered: readonly TamperedDefinition[] = [];
  #passes = 0;
  #baselineAt = 0;
  #virtualAddressHeldAt: Date | null = null;
  #givenBackAt: Date | null = null;

  constructor(
    db: Database,
    settings: WatchSettings,
    digests: DigestBook,
    clock: OwnClock,
    audit: Partial<AuditSettings> = {},
  ) {
    this.#db = db;
    this.#settings = settings;
    this.#digests = digests;
    this.#clock = clock;
    this.#audit = new FireAudit({ settleMs: settings.openWithinMs, ...audit });
  }

  /** @throws E_STORE_UNAVAILABLE and other errors of the store */
  async read(): Promise<Picture> {
    const slow = this.#passes % slowEvery === 0;
    if (slow) this.#health = await readServerHealth(this.#db);
    const picture = await this.#db.transaction(async (tx) => {
      await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
      return this.#readAll(tx, slow);
    });
    this.#passes += 1;
    return picture;
  }

  async #readAll(tx: Queryable, slow: boolean): Promise<Picture> {
    const { now, leader, timeZoneData } = await readLeaderView(tx);
    const jobs = await this.#readJobs(tx, now, slow);
    const { failedForMs, leaseOverdueMs, reclaims } = this.#settings;
    const schedulers = (await readSchedulerViews(tx)).map(parseTimeSource);
    const executors = (await readExecutorViews(tx)).map(parseTimeSource);
    this.#learnVirtualAddress(schedulers, now);
    const expiresAt = this.#leaseEnd(leader, schedulers, now);
    const overdue = new Date(now.getTime() - leaseOverdueMs);
    const sample = { at: now, ...(await readBacklogSample(tx, now)) };
    const oldest = now.getTime() - 2 * this.#settings.backlogForMs;
    this.#backlog = [...this.#backlog.filter(({ at }) => at.getTime() >= oldest && at < now), sample];
    return {
      now,
      leader: { ...leader, expiresAt },
      timeZoneData,
      schedulers,
      executors,
      jobs,
      absentFires: await this.#audit.check(jobs, now.getTime(), (fires) => findAbsent(tx, fires)),
      failed: await readFailed(tx, new Date(now.getTime() - failedForMs)),
      shards: await readShardTrouble(tx, overdue, reclaims),
      clockSteps: await readClockSteps(tx, new Date(now.getTime() - stepShownMs)),
      clocks: [
        ...clocksOf(now.getTime() - this.#settings.silentMs, schedulers, executors),
        ...this.#clock.readings(),
      ],
      clockSource: this.#clock.source(),
      tampered: this.#tampered,
      backlog: this.#backlog,
      health: this.#health,
      storeDisks: await readStoreDisks(tx),
      virtualAddressHeldAt: this.#virtualAddressHeldAt,
    };
  }

  /** A lease that was given back has no end of its own: its holder's last word counts, or when we first saw it so. */
  #leaseEnd(leader: Picture["leader"], schedulers: readonly WatchedScheduler[], now: Date): Date {
    const givenBack = leader.epoch > 0 && leader.expiresAt.getTime() < longAgoMs;
    if (!givenBack) {
      this.#givenBackAt = null;
      return leader.expiresAt;
    }
    if (this.#givenBackAt === null || this.#givenBackAt > now) this.#givenBackAt = now;
    const lastWord = schedulers.find(({ node }) => node === leader.node)?.lastSeen;
    return lastWord && lastWord < this.#givenBackAt ? lastWord : this.#givenBackAt;
  }

  /** A row says how it is now; since when nobody holds it must be remembered. */
  #learnVirtualAddress(schedulers: readonly WatchedScheduler[], now: Date): void {
    const looking = schedulers.filter(({ holdsVirtualAddress }) => holdsVirtualAddress !== null);
    if (looking.length === 0) {
      this.#virtualAddressHeldAt = null;
      return;
    }
    let heldAt = this.#virtualAddressHeldAt ?? now;
    for (const { holdsVirtualAddress, virtualAddressSeenAt } of looking)
      if (holdsVirtualAddress && virtualAddressSeenAt && virtualAddressSeenAt > heldAt)
        heldAt = virtualAddressSeenAt;
    // After a step back of the database's clock, the time that it has left does not count.
    this.#virtualAddressHeldAt = heldAt > now ? now : heldAt;
  }

  async #readJobs(tx: Queryable, now: Date, slow: boolean): Promise<WatchedJob[]> {
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

/** Offsets that living processes have measured themselves. */
export function clocksOf(
  aliveSinceMs: number,
  schedulers: Picture["schedulers"],
  executors: Picture["executors"],
): ClockReading[] {
  const readings: ClockReading[] = [];
  for (const { node, host, offsetMs, stopped, lastSeen } of schedulers)
    if (offsetMs !== null && !stopped && lastSeen.getTime() >= aliveSinceMs)
      readings.push({ node, part: "scheduler", host, offsetMs, errorMs: 0 });
  for (const { node, host, offsetMs, state, leaseUntil } of executors)
    if (offsetMs !== null && state === "active" && leaseUntil.getTime() >= aliveSinceMs)
      readings.push({ node, part: "executor", host, offsetMs, errorMs: 0 });
  return readings;
}
