/** Lets so many in at once; the others wait in line. */
export class Turnstile {
  #limit: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get inside(): number {
    return this.#inside;
  }

  /** @returns what the one who came in calls once on leaving */
  async enter(): Promise<() => void> {
    if (this.#inside < this.#limit) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  /** For a place that turned out to be smaller. Never below 1. */
  narrow(limit: number): void {
    this.#limit = Math.max(1, Math.min(this.#limit, limit));
  }

  #leave(): void {
    // Whoever is let in takes the place over, so that nobody slips in between.
    if (this.#inside <= this.#limit) {
      const next = this.#waiting.shift();
      if (next) {
        next();
        return;
      }
    }
    this.#inside--;
  }
}
