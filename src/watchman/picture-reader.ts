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
import { findAbsent } from "../store/watch/executions.ts";
import { readServerHealth, readStoreDisks } from "../store/watch/health.ts";
import { readBacklogSample, readFailed, readShardTrouble } from "../store/watch/trouble.ts";
import type { DigestBook } from "./digest-book.ts";
import { type AuditSettings, FireAudit } from "./fire-audit.ts";
import { JobReader } from "./job-reader.ts";
import type { BacklogSample, ClockReading, Picture, StoreHealth, WatchedScheduler } from "./picture.ts";
import type { WatchSettings } from "./settings.ts";
import { parseTimeSource } from "./time-source-row.ts";

const stepShownMs = 60 * 60_000;
/** `-infinity` of the store, as a Date. */
const longAgoMs = -8e15;
/** Slow looks (the server, the digests) are taken every so many passes. */
const slowEvery = 10;

export interface OwnClock {
  /** This host's clock against the database's, as last measured; null before the first time. */
  readings(): readonly ClockReading[];
  source(): Picture["clockSource"];
}

export class PictureReader {
  readonly #db: Database;
  readonly #settings: WatchSettings;
  readonly #clock: OwnClock;
  readonly #jobs: JobReader;
  readonly #audit: FireAudit;
  #backlog: BacklogSample[] = [];
  #health: StoreHealth | null = null;
  #passes = 0;
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
    this.#jobs = new JobReader(digests);
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
    const jobs = await this.#jobs.read(tx, now, slow);
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
      tampered: this.#jobs.tampered,
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
