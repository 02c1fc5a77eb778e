/**
 * The controller's reckoning of the database's time: one comparison before the
 * fault, monotonic time from there on. It does not follow when anybody's clock
 * is moved, the controller's own and the database's included.
 */
import { monotonicMs } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { readNow } from "../../store/drill/drill-sample.ts";

/** Tries to read the database's clock; the one with the shortest trip counts. */
const tries = 5;

export class ReferenceClock {
  readonly #baseMs: number;
  /** Half of the trip it was read by. */
  readonly uncertaintyMs: number;

  private constructor(baseMs: number, uncertaintyMs: number) {
    this.#baseMs = baseMs;
    this.uncertaintyMs = uncertaintyMs;
  }

  static async read(db: Queryable): Promise<ReferenceClock> {
    let best: { baseMs: number; half: number } | undefined;
    for (let i = 0; i < tries; i++) {
      const { baseMs, half } = await compare(db);
      if (!best || half < best.half) best = { baseMs, half };
    }
    return new ReferenceClock(best!.baseMs, best!.half);
  }

  /** Milliseconds since 1970. */
  nowMs(): number {
    return this.at(monotonicMs());
  }

  /** The reckoning at an instant of our monotonic clock. */
  at(monotonic: number): number {
    return this.#baseMs + monotonic;
  }

  /** Now, RFC 3339 with milliseconds. */
  now(): string {
    return new Date(this.nowMs()).toISOString();
  }

  /** How far the database's clock is from this reckoning now. */
  async databaseOffset(db: Queryable): Promise<{ offsetMs: number; uncertaintyMs: number }> {
    const { baseMs, half } = await compare(db);
    return { offsetMs: baseMs - this.#baseMs, uncertaintyMs: half + this.uncertaintyMs };
  }
}

async function compare(db: Queryable): Promise<{ baseMs: number; half: number }> {
  const before = monotonicMs();
  const now = await readNow(db);
  const after = monotonicMs();
  return { baseMs: now.getTime() - (before + after) / 2, half: (after - before) / 2 };
}
