/**
 * Whether this host's clock is fit for a scheduler. Nothing that is fired
 * depends on it: the database decides. A clock that is off says that the host is
 * not well, and confuses the people who are routed to it.
 */

/** Another scheduler as its row describes it. */
export interface OtherScheduler {
  readonly node: string;
  readonly role: "leader" | "standby" | "stopped" | "silent";
  readonly timeZoneData: string;
  readonly offsetMs: number | null;
}

export class ClockHealth {
  readonly #bounds: number[] = [];

  /**
   * Takes a measurement. One alone convicts nobody: a process that was not
   * scheduled for a moment measures nonsense once.
   * @param errorMs how wrong the offset may be
   */
  observe(offsetMs: number, errorMs: number): void {
    this.#bounds.push(Math.max(0, Math.abs(offsetMs) - errorMs));
    if (this.#bounds.length > 2) this.#bounds.shift();
  }

  /** By how much the clock is off at the very least, by the last two measurements; 0 before there are two. */
  get offMs(): number {
    return this.#bounds.length < 2 ? 0 : Math.min(...this.#bounds);
  }

  get isKnown(): boolean {
    return this.#bounds.length >= 2;
  }
}

/** Schedulers that could lead in our place, with clocks that are right. */
export function healthierThanUs(
  others: readonly OtherScheduler[],
  us: { readonly node: string; readonly timeZoneData: string },
  refuseMs: number,
): OtherScheduler[] {
  return others.filter(
    (other) =>
      other.node !== us.node &&
      (other.role === "standby" || other.role === "leader") &&
      other.timeZoneData === us.timeZoneData &&
      other.offsetMs !== null &&
      Math.abs(other.offsetMs) < refuseMs,
  );
}
