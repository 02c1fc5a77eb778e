/**
 * Who is really dead: pure, for everyone who reaps.
 *
 * That the database's clock says a lease has ended is not enough: the clock may
 * have been stepped. A lease is taken as ended only when the same value was
 * seen, without a change, for as long as the lease lasts, by our own monotonic
 * clock. After a gap in looking (the store was away) the observation starts
 * anew, so nobody is reaped before one full lease has passed.
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

  /**
   * Takes note of what the store says now.
   * @param nowMs the monotonic instant before the question was sent
   * @returns those that are dead: expired, and unchanged for a whole lease
   */
  observe<Lease extends ObservedLease>(leases: readonly Lease[], nowMs: number): Lease[] {
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

  /** Milliseconds until the next unchanged lease could be called dead; null when nothing is observed. */
  nextVerdictInMs(leases: readonly ObservedLease[], nowMs: number): number | null {
    let next: number | null = null;
    for (const lease of leases) {
      const seen = this.#seen.get(lease.incarnation);
      if (!seen || !lease.expired) continue;
      const left = Math.max(0, seen.sinceMs + lease.leaseMs - nowMs);
      if (next === null || left < next) next = left;
    }
    return next;
  }

  /** The store could not be asked: everything seen so far counts for nothing. */
  forget(): void {
    this.#seen.clear();
  }
}
