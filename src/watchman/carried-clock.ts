/** The database's clock while the database does not answer. */
export class CarriedClock {
  readonly #stopwatchMs: () => number;
  #last: { readonly now: Date; readonly atMs: number } | undefined;

  /** @param stopwatchMs carries it on; counts only differences */
  constructor(stopwatchMs: () => number) {
    this.#stopwatchMs = stopwatchMs;
  }

  /** What the database has just said. */
  learn(now: Date): void {
    this.#last = { now, atMs: this.#stopwatchMs() };
  }

  /** What it would say now. Without ever having asked it, our own clock must do. */
  get now(): Date {
    if (!this.#last) return new Date();
    return new Date(this.#last.now.getTime() + this.#stopwatchMs() - this.#last.atMs);
  }
}
