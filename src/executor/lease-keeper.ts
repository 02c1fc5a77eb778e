/**
 * Keeps the lease of one incarnation.
 *
 *   trusted ──renewed──▶ trusted ──▶ … ──▶ lost (for good)
 *
 * Lost: the store refused a renewal, or the last one that was accepted was sent
 * too long ago by our monotonic clock. The store's lease ends `stopEarlyMs`
 * after ours at the earliest, since it began after the renewal was sent.
 */
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { LeaseSettings } from "../spec/cluster-definition.ts";
import type { Queryable } from "../store/database.ts";
import { renewExecutor } from "../store/executor.ts";

export interface LeaseHooks {
  readonly onRenewed: () => void;
  /** Called once. */
  readonly onLost: (reason: string) => void;
}

/** After a renewal that failed, the next one is tried this soon. */
const retryMs = 500;

export class LeaseKeeper {
  readonly incarnation: string;
  readonly #db: Queryable;
  readonly #settings: LeaseSettings;
  readonly #hooks: LeaseHooks;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #sentMs: number;
  #timer: NodeJS.Timeout | undefined;
  #hurry = new AbortController();
  #state: "trusted" | "lost" | "ended" = "trusted";
  /** Our wall clock minus the database's, for display only. */
  offsetMs: number | null = null;

  /** @param sentMs the monotonic instant before the registration was sent */
  constructor(
    incarnation: string,
    sentMs: number,
    db: Queryable,
    settings: LeaseSettings,
    hooks: LeaseHooks,
    log: Log,
  ) {
    this.incarnation = incarnation;
    this.#sentMs = sentMs;
    this.#db = db;
    this.#settings = settings;
    this.#hooks = hooks;
    this.#log = log;
  }

  start(): void {
    this.#watch();
    void this.#renew();
  }

  /** No more renewals, no more hooks; the incarnation ends with its row's state. */
  end(): void {
    if (this.#state === "trusted") this.#state = "ended";
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Something suggests that the store does not count us any more: ask now. */
  suspect(): void {
    this.#hurry.abort();
  }

  /** Until when we trust it, by our monotonic clock. */
  get trustedUntilMs(): number {
    return this.#sentMs + this.#settings.leaseMs - this.#settings.stopEarlyMs;
  }

  /** The same, for a job that allows less: nobody may be kept from its shards for longer. */
  deadlineFor(jobLeaseMs: number): number {
    const { leaseMs, stopEarlyMs } = this.#settings;
    return this.#sentMs + Math.min(leaseMs, jobLeaseMs) - stopEarlyMs;
  }

  /** Once it was not, it never is again: `onLost` is called, or soon will be. */
  get trusted(): boolean {
    return this.#state === "trusted" && monotonicMs() < this.trustedUntilMs;
  }

  get lost(): boolean {
    return this.#state === "lost";
  }

  async #renew(): Promise<void> {
    let waitMs = this.#settings.renewEveryMs;
    let failing = false;
    for (;;) {
      this.#hurry = new AbortController();
      await sleep(waitMs, AbortSignal.any([this.#stop.signal, this.#hurry.signal]));
      if (this.#state !== "trusted") return;
      const sentMs = monotonicMs();
      const wallMs = Date.now();
      try {
        const now = await renewExecutor(this.#db, this.incarnation, this.offsetMs);
        if (this.#state !== "trusted") return;
        if (now === null) return this.#lose("the store says that it has ended");
        // This process stood still: whoever asked meanwhile was told that the lease is over, and acted on it.
        if (!this.trusted) return this.#lose("its renewal was answered too late");
        this.offsetMs = (wallMs + Date.now()) / 2 - now.getTime();
        this.#sentMs = sentMs;
        this.#watch();
        if (this.#state !== "trusted") return;
        this.#hooks.onRenewed();
        if (failing) this.#log.info({}, "the lease is renewed again");
        failing = false;
        waitMs = this.#settings.renewEveryMs - (monotonicMs() - sentMs);
      } catch (error) {
        if (this.#state !== "trusted") return;
        if (!failing)
          this.#log.warn(
            { reason: messageOf(error), trustedForMs: Math.round(this.trustedUntilMs - monotonicMs()) },
            "the lease could not be renewed; trying again",
          );
        failing = true;
        waitMs = Math.min(retryMs, this.#settings.renewEveryMs);
      }
    }
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#state !== "trusted") return;
    const left = this.trustedUntilMs - monotonicMs();
    if (left <= 0) this.#lose("it could not be renewed in time");
    else this.#timer = setTimeout(() => this.#watch(), left);
  }

  #lose(reason: string): void {
    if (this.#state !== "trusted") return;
    this.#state = "lost";
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#hooks.onLost(reason);
  }
}
