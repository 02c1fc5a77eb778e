/**
 * One term of leadership, as its holder may trust it.
 *
 * The store decides. Locally the monotonic clock is read only to stop earlier:
 * a renewal counts from the moment it was sent, and the last `stopEarlyMs` of the
 * lease are not trusted.
 */
import { EscapementError } from "../base/errors.ts";
import { monotonicMs } from "../base/monotonic.ts";
import type { LeaseSettings } from "../spec/cluster-definition.ts";
import type { Database } from "../store/database.ts";
import { acquireLeadership, releaseLeadership, renewLeadership } from "../store/leadership.ts";

export class Term {
  readonly holder: string;
  readonly epoch: number;
  readonly #lease: LeaseSettings;
  #trustedUntilMs: number;
  #renewAtMs: number;

  private constructor(holder: string, epoch: number, lease: LeaseSettings, sentMs: number) {
    this.holder = holder;
    this.epoch = epoch;
    this.#lease = lease;
    this.#trustedUntilMs = sentMs + lease.leaseMs - lease.stopEarlyMs;
    this.#renewAtMs = sentMs + lease.renewEveryMs;
  }

  /** Tries to begin a term; null while another one is alive. */
  static async begin(
    db: Database,
    who: { holder: string; node: string; host: string },
    lease: LeaseSettings,
  ): Promise<Term | null> {
    const sentMs = monotonicMs();
    const epoch = await acquireLeadership(db, who, lease.leaseMs);
    return epoch === null ? null : new Term(who.holder, epoch, lease, sentMs);
  }

  /** Milliseconds for which the term may still be trusted without a renewal; negative when it is over. */
  get trustLeftMs(): number {
    return this.#trustedUntilMs - monotonicMs();
  }

  /** Milliseconds until the next renewal is due. */
  get renewInMs(): number {
    return this.#renewAtMs - monotonicMs();
  }

  /**
   * Renews when it is due, or at once with `force`. Returns the store's time with
   * the monotonic instants around it, or null when nothing was due.
   * @throws E_LEADERSHIP_LOST
   */
  async renewIfDue(
    db: Database,
    force = false,
  ): Promise<{ now: Date; sentMs: number; receivedMs: number } | null> {
    this.requireTrust();
    if (!force && this.renewInMs > 0) return null;
    const sentMs = monotonicMs();
    const now = await renewLeadership(db, this.holder, this.epoch);
    if (now === null) throw new EscapementError("E_LEADERSHIP_LOST", { epoch: this.epoch });
    this.#trustedUntilMs = sentMs + this.#lease.leaseMs - this.#lease.stopEarlyMs;
    this.#renewAtMs = sentMs + this.#lease.renewEveryMs;
    return { now, sentMs, receivedMs: monotonicMs() };
  }

  /** @throws E_LEADERSHIP_LOST when the term can no longer be trusted */
  requireTrust(): void {
    if (this.trustLeftMs <= 0) throw new EscapementError("E_LEADERSHIP_LOST", { epoch: this.epoch });
  }

  /** Gives the lease back, so that the other one need not wait for its end. */
  async end(db: Database): Promise<void> {
    if (this.trustLeftMs > 0) await releaseLeadership(db, this.holder, this.epoch);
  }
}
