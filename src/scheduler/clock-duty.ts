/**
 * What a scheduler owes when its host's clock is off: above `clockLeave` it is
 * not ready, so that the virtual address leaves the host; above `clockRefuse` it
 * yields to a healthier scheduler. With none, it goes on: fires are decided by
 * the database's clock, and a wrong clock is better than no leader.
 */
import { monotonicMs } from "../base/monotonic.ts";
import type { SchedulerSettings } from "../spec/cluster-definition.ts";
import type { Queryable } from "../store/database.ts";
import { readLeader } from "../store/leadership.ts";
import { listSchedulers } from "../store/scheduler-row.ts";
import { ClockHealth, healthierThanUs } from "./clock-health.ts";
import { type ClockReading, StoreClock } from "./store-clock.ts";

export interface ClockDutyOptions {
  readonly db: Queryable;
  readonly settings: SchedulerSettings;
  readonly node: string;
  readonly timeZoneData: string;
}

export class ClockDuty {
  readonly #options: ClockDutyOptions;
  readonly #clock = new StoreClock();
  readonly #health = new ClockHealth();
  #freeSinceMs: number | null = null;

  constructor(options: ClockDutyOptions) {
    this.#options = options;
  }

  /** This host's wall clock minus the database's; null before the first reading. */
  get wallOffsetMs(): number | null {
    return this.#clock.wallOffsetMs;
  }

  /** True as soon as it could be said that the clock is off. */
  get isKnown(): boolean {
    return this.#health.isKnown;
  }

  /** Takes a reading; returns by how much the database's clock has stepped since the last one. */
  observe(reading: ClockReading): number {
    // What has passed since the answer came is not an offset.
    const stepMs = this.#clock.observe(reading, Date.now() - (monotonicMs() - reading.receivedMs));
    this.#health.observe(this.#clock.wallOffsetMs ?? 0, this.#clock.roundTripMs / 2);
    return stepMs;
  }

  /** The connection was lost: what comes next is not compared with what was before. */
  reset(): void {
    this.#clock.reset();
  }

  /** Why the scheduler is not ready, or null. */
  notReady(): string | null {
    const { offMs } = this.#health;
    return offMs > this.#options.settings.clockLeaveMs
      ? `this host's clock is ${Math.round(offMs)} ms off the database's`
      : null;
  }

  /** True while a healthier scheduler shall have the lead first: it gets one lease of time to take it. */
  async waitsForHealthier(): Promise<boolean> {
    const { db, settings } = this.#options;
    if ((await this.#healthier()).length === 0 || (await readLeader(db)).alive) {
      this.#freeSinceMs = null;
      return false;
    }
    this.#freeSinceMs ??= monotonicMs();
    return monotonicMs() - this.#freeSinceMs < settings.leaseMs;
  }

  /** For a leader. @throws ClockIsOff when another scheduler should lead */
  async requireFit(): Promise<void> {
    const healthier = await this.#healthier();
    if (healthier.length > 0) throw new ClockIsOff(this.#health.offMs, healthier);
  }

  async #healthier(): Promise<string[]> {
    const { db, settings, node, timeZoneData } = this.#options;
    if (this.#health.offMs <= settings.clockRefuseMs) return [];
    const others = await listSchedulers(db);
    return healthierThanUs(others, { node, timeZoneData }, settings.clockRefuseMs).map((other) => other.node);
  }
}

/** Ends a term; the lease is given back, and another scheduler takes it. */
export class ClockIsOff extends Error {
  constructor(
    readonly offMs: number,
    readonly healthier: readonly string[],
  ) {
    super("the clock is off");
  }
}
