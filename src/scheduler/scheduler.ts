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
import { keepTimeSource } from "../hardware/time-source-loop.ts";
import type { SchedulerNode, SchedulerSettings } from "../spec/cluster-definition.ts";
import { claimTimeZoneData, noteStoreTime } from "../store/cluster.ts";
import type { Database } from "../store/database.ts";
import { isLeadershipLost } from "../store/leadership.ts";
import { checkSchema } from "../store/migrate.ts";
import { readStoreTime } from "../store/store-time.ts";
import { noteTimeSource } from "../store/time-source.ts";
import { ClockDuty, ClockIsOff } from "./clock-duty.ts";
import { keepHouse, reportClockStep } from "./housekeeping.ts";
import type { Readiness } from "./http-server.ts";
import { SchedulerMetrics } from "./metrics.ts";
import { openContinuously } from "./opener.ts";
import { defaultPlannerSettings, Planner } from "./planner.ts";
import { SelfNote } from "./self-note.ts";
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

export class Scheduler {
  readonly metrics: SchedulerMetrics;
  readonly #options: SchedulerOptions;
  readonly #planner: Planner;
  readonly #clock: ClockDuty;
  readonly #selfNote: SelfNote;
  #term: Term | null = null;
  #lastContactMs = Number.NEGATIVE_INFINITY;
  #requiredTimeZoneData: string | null = null;
  /** A step of the database's clock seen between two terms, perhaps the one that ended the last term. */
  #unreportedStepMs = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { db, settings, node, timeZoneData } = options;
    this.#clock = new ClockDuty({ db, settings, node: node.name, timeZoneData });
    this.#selfNote = new SelfNote(db, options, () => this.#clock.wallOffsetMs, settings.virtualAddress);
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
    const clock = this.#clock.notReady();
    if (clock) reasons.push(clock);
    return { ready: reasons.length === 0, reasons };
  }

  /**
   * Runs until the signal.
   * @throws E_STORE_NOT_MIGRATED and the like: what waiting will not cure
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#start(signal);
    const { db, incarnation } = this.#options;
    void keepTimeSource({ note: (source) => noteTimeSource(db, "scheduler", incarnation, source), signal });
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
    await this.#selfNote.write("stopped").catch(() => {});
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
      await this.#readClock();
      if (!this.#clock.isKnown) await this.#readClock();
      if (!this.#timeZoneMismatch() && !(await this.#clock.waitsForHealthier())) {
        const term = await Term.begin(leaderDb, { holder: incarnation, node: node.name, host }, settings);
        this.#contact();
        if (term) return term;
      }
      // Whoever leads has seen it, too, and reports it.
      this.#unreportedStepMs = 0;
      await this.#selfNote.refresh("standby");
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
    else if (this.#unreportedStepMs !== 0) await this.#clockStepped(this.#unreportedStepMs);
    this.#unreportedStepMs = 0;
    const beat = async () => {
      const reading = await term.renewIfDue(leaderDb);
      if (!reading) return;
      this.#contact();
      const stepMs = this.#clock.observe(reading);
      if (stepMs !== 0) await this.#clockStepped(stepMs);
      await this.#clock.requireFit();
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
      await this.#selfNote.refresh("leader");
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
    this.#selfNote.makeDue();
    this.metrics.leader.set(0);
    if (!term) return;
    this.#options.log.info({ epoch: term.epoch, stopping: signal.aborted }, "no longer leading");
    await term.end(this.#options.leaderDb).catch(() => {});
  }

  #noteError(error: unknown): void {
    if (error instanceof ClockIsOff) {
      const { offMs, healthier } = error;
      this.#options.log.error({ offMs, to: healthier }, "the clock is off: the lead is left to another");
      return;
    }
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
    const stepMs = this.#clock.observe({ now, sentMs, receivedMs: monotonicMs() });
    if (stepMs !== 0) this.#unreportedStepMs = stepMs;
  }
}

function isStoreAbsent(error: unknown): boolean {
  return isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
}
