/**
 * One scheduler process.
 *
 *   starting ──schema known──▶ standby ──lease acquired──▶ leading
 *                                 ▲                          │
 *                                 └──any error, or lost──────┘
 *   SIGTERM anywhere: the lease is given back, then the end.
 *
 * A standby does nothing but try to take the lease. A leader runs three loops:
 * it plans and renews on one connection, opens on another, and keeps house on a
 * third. The first failure of any of them ends the term.
 */
import { isEscapementError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { SchedulerNode, SchedulerSettings } from "../spec/cluster-definition.ts";
import { claimTimeZoneData, noteStoreTime } from "../store/cluster.ts";
import type { Database } from "../store/database.ts";
import { isLeadershipLost } from "../store/leadership.ts";
import { checkSchema } from "../store/migrate.ts";
import { noteScheduler } from "../store/scheduler-row.ts";
import { readStoreTime } from "../store/store-time.ts";
import { keepHouse, reportClockStep } from "./housekeeping.ts";
import type { Readiness } from "./http-server.ts";
import { SchedulerMetrics } from "./metrics.ts";
import { openContinuously } from "./opener.ts";
import { defaultPlannerSettings, Planner } from "./planner.ts";
import { StoreClock } from "./store-clock.ts";
import { Term } from "./term.ts";

export interface SchedulerOptions {
  readonly node: SchedulerNode;
  readonly settings: SchedulerSettings;
  /** A fresh UUID for this process life. */
  readonly incarnation: string;
  readonly host: string;
  readonly version: string;
  readonly timeZoneData: string;
  /** Whole months of records that are kept besides the running one. */
  readonly retentionMonths: number;
  readonly log: Log;
  /** The leader writes and renews on this one; it must allow one connection only. */
  readonly leaderDb: Database;
  /** For everything that is not a leader's write. */
  readonly db: Database;
}

const noteEveryMs = 5_000;

export class Scheduler {
  readonly metrics: SchedulerMetrics;
  readonly #options: SchedulerOptions;
  readonly #planner: Planner;
  readonly #clock = new StoreClock();
  #term: Term | null = null;
  #lastContactMs = Number.NEGATIVE_INFINITY;
  #requiredTimeZoneData: string | null = null;
  #notedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#planner = new Planner(options.leaderDb, {
      ...defaultPlannerSettings,
      lookAheadMs: options.settings.lookAheadMs,
    });
    this.metrics = new SchedulerMetrics({
      trustLeftMs: () => this.#term?.trustLeftMs ?? null,
      wallOffsetMs: () => this.#clock.wallOffsetMs,
    });
  }

  get role(): "leader" | "standby" {
    return this.#term ? "leader" : "standby";
  }

  get epoch(): number | null {
    return this.#term?.epoch ?? null;
  }

  /** A healthy standby is ready, too. */
  readiness(): Readiness {
    const reasons: string[] = [];
    const silentMs = monotonicMs() - this.#lastContactMs;
    if (silentMs > this.#options.settings.leaseMs)
      reasons.push("the record store has not answered for a whole lease");
    if (this.#timeZoneMismatch()) {
      reasons.push(
        `time-zone data ${this.#options.timeZoneData}, the cluster uses ${this.#requiredTimeZoneData}`,
      );
    }
    return { ready: reasons.length === 0, reasons };
  }

  /**
   * Runs until the signal.
   * @throws E_STORE_NOT_MIGRATED and the like: what waiting will not cure
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#start(signal);
    while (!signal.aborted) {
      try {
        this.#term = await this.#standBy(signal);
        if (this.#term) await this.#lead(this.#term, signal);
      } catch (error) {
        if (this.#term) this.metrics.demotions.add();
        this.#noteError(error);
      }
      await this.#stepDown(signal);
      if (!signal.aborted) await sleep(this.#pollMs, signal);
    }
    await this.#note("stopped").catch(() => {});
  }

  /** How often a standby looks at the lease: often enough to take over well within the bar. */
  get #pollMs(): number {
    return Math.min(this.#options.settings.maxSleepMs, this.#options.settings.leaseMs / 4);
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { db, log, timeZoneData } = this.#options;
    for (let waitMs = 250; !signal.aborted; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        await checkSchema(db);
        this.#requiredTimeZoneData = await claimTimeZoneData(db, timeZoneData);
        if (this.#timeZoneMismatch()) {
          log.error(
            { mine: timeZoneData, cluster: this.#requiredTimeZoneData },
            "other time-zone data than the cluster's: will not lead",
          );
        }
        this.#contact();
        return;
      } catch (error) {
        if (!isStoreAbsent(error)) throw error;
        log.warn({ error, retryMs: waitMs }, "the record store does not answer yet");
        await sleep(waitMs, signal);
      }
    }
  }

  async #standBy(signal: AbortSignal): Promise<Term | null> {
    const { leaderDb, settings, incarnation, node, host } = this.#options;
    while (!signal.aborted) {
      if (!this.#timeZoneMismatch()) {
        const term = await Term.begin(leaderDb, { holder: incarnation, node: node.name, host }, settings);
        this.#contact();
        if (term) return term;
      }
      await this.#readClock();
      await this.#noteSometimes("standby");
      await sleep(this.#pollMs, signal);
    }
    return null;
  }

  async #lead(term: Term, signal: AbortSignal): Promise<void> {
    const { db, settings, log, node } = this.#options;
    this.metrics.terms.add();
    this.metrics.leader.set(1);
    this.metrics.epoch.set(term.epoch);
    log.info({ epoch: term.epoch }, "leading");
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener("abort", stop, { once: true });
    // The trust may run out while a statement hangs: that must end the term, too.
    const watchdog = setInterval(
      () => {
        if (term.trustLeftMs <= 0) over.abort();
      },
      Math.max(50, settings.stopEarlyMs / 10),
    );
    try {
      await Promise.all(
        [
          this.#planAndRenew(term, over.signal),
          openContinuously(db, {
            maxSleepMs: settings.maxSleepMs,
            signal: over.signal,
            onOpened: (count, tookMs) => {
              this.metrics.opened.add(count);
              this.metrics.openSeconds.observe(tookMs / 1000);
            },
          }),
          keepHouse(
            db,
            { node: node.name, retentionMonths: this.#options.retentionMonths },
            log,
            over.signal,
            {
              reaped: (shards) => this.metrics.reapedShards.add(shards),
            },
          ),
        ].map((loop) =>
          loop.catch((error: unknown) => {
            over.abort();
            throw error;
          }),
        ),
      );
      term.requireTrust();
    } finally {
      clearInterval(watchdog);
      signal.removeEventListener("abort", stop);
      over.abort();
    }
  }

  async #planAndRenew(term: Term, signal: AbortSignal): Promise<void> {
    const { leaderDb, db, settings, log } = this.#options;
    const behindMs = await noteStoreTime(db);
    if (behindMs > 1_000) await this.#clockStepped(-behindMs);
    const beat = async () => {
      const reading = await term.renewIfDue(leaderDb);
      if (!reading) return;
      this.#contact();
      const stepMs = this.#clock.observe(reading, Date.now());
      if (stepMs !== 0) await this.#clockStepped(stepMs);
    };
    while (!signal.aborted) {
      await beat();
      const pass = await this.#planner.pass(term, beat);
      if (pass.planned > 0 || pass.missed > 0) {
        this.metrics.planned.add(pass.planned);
        this.metrics.missed.add(pass.missed);
        this.metrics.planSeconds.observe(pass.longestMs / 1000);
        if (pass.missed > 0) log.warn({ missed: pass.missed }, "fires were missed");
      }
      await this.#noteSometimes("leader");
      if (!pass.more) await sleep(Math.min(settings.maxSleepMs, Math.max(0, term.renewInMs)), signal);
    }
  }

  async #clockStepped(stepMs: number): Promise<void> {
    this.metrics.clockSteps.add();
    await reportClockStep(this.#options.db, this.#options.node.name, stepMs, this.#options.log);
  }

  async #stepDown(signal: AbortSignal): Promise<void> {
    const term = this.#term;
    this.#term = null;
    this.#notedAtMs = Number.NEGATIVE_INFINITY;
    this.metrics.leader.set(0);
    if (!term) return;
    this.#options.log.info({ epoch: term.epoch, stopping: signal.aborted }, "no longer leading");
    await term.end(this.#options.leaderDb).catch(() => {});
  }

  #noteError(error: unknown): void {
    const lost = isLeadershipLost(error) || (isEscapementError(error) && error.code === "E_LEADERSHIP_LOST");
    if (lost) {
      this.#options.log.warn({ epoch: this.epoch }, "the leadership was lost");
      return;
    }
    this.metrics.storeErrors.add();
    this.#clock.reset();
    this.#options.log.error({ error }, "the record store failed; standing by");
  }

  #timeZoneMismatch(): boolean {
    return this.#requiredTimeZoneData !== null && this.#requiredTimeZoneData !== this.#options.timeZoneData;
  }

  #contact(): void {
    this.#lastContactMs = monotonicMs();
  }

  async #readClock(): Promise<void> {
    const sentMs = monotonicMs();
    const now = await readStoreTime(this.#options.db);
    this.#contact();
    this.#clock.observe({ now, sentMs, receivedMs: monotonicMs() }, Date.now());
  }

  async #noteSometimes(role: "leader" | "standby"): Promise<void> {
    if (monotonicMs() - this.#notedAtMs < noteEveryMs) return;
    await this.#note(role);
    this.#notedAtMs = monotonicMs();
  }

  async #note(role: "leader" | "standby" | "stopped"): Promise<void> {
    const { db, incarnation, node, host, version, timeZoneData } = this.#options;
    const http = `${node.http.address}:${node.http.port}`;
    await noteScheduler(db, {
      incarnation,
      node: node.name,
      host,
      pid: process.pid,
      version,
      timeZoneData,
      role,
      http,
      offsetMs: this.#clock.wallOffsetMs,
    });
  }
}

function isStoreAbsent(error: unknown): boolean {
  return isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
}
