/**
 * Who is really dead: pure, for everyone who reaps.
 *
 * That the database's clock says a lease has ended is not enough: the clock may
 * have been stepped. A lease is taken as ended only when the same value was
 * seen, without a change, for as long as the lease lasts, by our own monotonic
 * clock. After a gap in looking (the store was away, or we were stopped) the
 * observation starts anew, so nobody is reaped before one full lease has passed.
 */

export interface ObservedLease {
  readonly incarnation: string;
  readonly leaseUntil: Date;
  readonly leaseMs: number;
  /** By the database's clock. */
  readonly expired: boolean;
}

export class LeaseObserver {
  readonly #seen = new Map<string, { leaseUntilMs: number; sinceMs: number }>();
  #lastLookMs = Number.NEGATIVE_INFINITY;

  /** @param maxGapMs the longest time between two looks that counts as looking all the time */
  constructor(readonly maxGapMs = 6_000) {}

  /**
   * Takes note of what the store says now.
   * @param nowMs the monotonic instant before the question was sent
   * @returns those that are dead: expired, and unchanged for a whole lease
   */
  observe<Lease extends ObservedLease>(leases: readonly Lease[], nowMs: number): Lease[] {
    if (nowMs - this.#lastLookMs > this.maxGapMs) this.forget();
    this.#lastLookMs = nowMs;
    const present = new Set(leases.map((lease) => lease.incarnation));
    for (const incarnation of this.#seen.keys())
      if (!present.has(incarnation)) this.#seen.delete(incarnation);
    return leases.filter((lease) => {
      const leaseUntilMs = lease.leaseUntil.getTime();
      const before = this.#seen.get(lease.incarnation);
      if (before?.leaseUntilMs !== leaseUntilMs) {
        this.#seen.set(lease.incarnation, { leaseUntilMs, sinceMs: nowMs });
        return false;
      }
      return lease.expired && nowMs - before.sinceMs >= lease.leaseMs;
    });
  }

  /** The store could not be asked: everything seen so far counts for nothing. */
  forget(): void {
    this.#seen.clear();
  }
}
