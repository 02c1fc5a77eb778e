/**
 * Watches the database's clock against the monotonic one. It decides everything,
 * so a step of it must not pass unseen; it changes no decision.
 */
export interface ClockReading {
  /** The database's time. */
  readonly now: Date;
  /** Monotonic instants around the question. */
  readonly sentMs: number;
  readonly receivedMs: number;
}

export class StoreClock {
  #offsetMs: number | null = null;
  #roundTripMs = 0;
  #wallOffsetMs: number | null = null;

  /** This host's wall clock minus the database's, at the last reading; null before the first. */
  get wallOffsetMs(): number | null {
    return this.#wallOffsetMs;
  }

  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  /**
   * Takes a reading.
   * @returns by how many milliseconds the database's clock has stepped since the
   *   last one (positive: forward); 0 when it has not, within `toleranceMs` and the round trips.
   */
  observe(reading: ClockReading, wallMs: number, toleranceMs = 500): number {
    const middleMs = (reading.sentMs + reading.receivedMs) / 2;
    const offsetMs = reading.now.getTime() - middleMs;
    const roundTripMs = reading.receivedMs - reading.sentMs;
    const before = this.#offsetMs;
    const slackMs = toleranceMs + roundTripMs / 2 + this.#roundTripMs / 2;
    this.#offsetMs = offsetMs;
    this.#roundTripMs = roundTripMs;
    this.#wallOffsetMs = wallMs - roundTripMs / 2 - reading.now.getTime();
    return before !== null && Math.abs(offsetMs - before) > slackMs ? offsetMs - before : 0;
  }

  /** Forgets the last reading, for example after the connection was lost. */
  reset(): void {
    this.#offsetMs = null;
  }
}
