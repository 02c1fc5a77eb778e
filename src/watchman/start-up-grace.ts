/**
 * The time after a start in which findings are noted and not told: a cluster that
 * comes up is wrong for a moment. The store says when it ends, so that a watchman
 * that restarts again and again has one; before the store has said so, the grace
 * is counted from the start of this process.
 */
export class StartUpGrace {
  readonly #lengthMs: number;
  readonly #stopwatchMs: () => number;
  readonly #startedMs: number;
  #until: Date | undefined;

  /** @param stopwatchMs counts only differences */
  constructor(lengthMs: number, stopwatchMs: () => number) {
    this.#lengthMs = lengthMs;
    this.#stopwatchMs = stopwatchMs;
    this.#startedMs = stopwatchMs();
  }

  /** Whether the store has noted this start. */
  get isNoted(): boolean {
    return this.#until !== undefined;
  }

  /** What the store has said of its end. */
  note(until: Date): void {
    this.#until = until;
  }

  isOn(now: Date): boolean {
    if (!this.#until) return this.#stopwatchMs() - this.#startedMs < this.#lengthMs;
    // An end further away than a whole grace is from before the database's clock went back.
    if (this.#until.getTime() - now.getTime() > this.#lengthMs) this.#until = now;
    return now < this.#until;
  }
}
