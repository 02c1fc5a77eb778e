/**
 * Keeps a lease of the database alive, and knows when it can no longer be trusted.
 *
 *   start ──▶ trusted ──renewed──▶ trusted … ──stop──▶ ended
 *                │ refused, or not renewed in time
 *                ▼
 *               lost
 *
 * The lease itself is the database's. Here only the monotonic clock counts,
 * from the moment a renewal was SENT, less a margin: this side may stop
 * trusting earlier than the database, never later.
 */
import { messageOf } from "../base/errors.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { timer } from "./timer.ts";

export interface LeaseKeeperOptions {
  readonly leaseMs: number;
  /** Asks for a fresh lease; false: it is lost. */
  renew(): Promise<boolean>;
  /** Called once, at the latest when trust ends. */
  onLost(reason: string): void;
  /** Called with the new end of trust (monotonic) after start and every renewal. */
  onTrusted?(trustUntilMs: number): void;
}

/** How long before the lease's end trust ends: 20 %, at most 3 s. */
export function trustMarginMs(leaseMs: number): number {
  return Math.min(3_000, leaseMs * 0.2);
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #trustUntilMs = 0;
  #state: "new" | "trusted" | "lost" | "ended" = "new";
  #renewTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** @param sentAtMs when (monotonic) the request that got the lease was sent */
  start(sentAtMs: number): void {
    this.#state = "trusted";
    this.#trust(sentAtMs);
    this.#renewIn(this.#options.leaseMs / 3);
  }

  /** Renews no more; does not give the lease back. */
  stop(): void {
    if (this.#state === "trusted") this.#state = "ended";
    clearTimeout(this.#renewTimer);
    clearTimeout(this.#endTimer);
  }

  /** Reads the clock: a process that was frozen learns it here, before its timers run. */
  isTrusted(): boolean {
    if (this.#state === "trusted" && monotonicMs() >= this.#trustUntilMs)
      this.#lose("it was not renewed in time");
    return this.#state === "trusted";
  }

  get trustUntilMs(): number {
    return this.#trustUntilMs;
  }

  #trust(sentAtMs: number): void {
    const { leaseMs } = this.#options;
    this.#trustUntilMs = sentAtMs + leaseMs - trustMarginMs(leaseMs);
    clearTimeout(this.#endTimer);
    this.#endTimer = timer(() => this.isTrusted(), Math.max(0, this.#trustUntilMs - monotonicMs()) + 1);
    this.#options.onTrusted?.(this.#trustUntilMs);
  }

  #renewIn(ms: number): void {
    if (this.#state !== "trusted") return;
    this.#renewTimer = timer(() => void this.#renew(), ms);
  }

  async #renew(): Promise<void> {
    if (!this.isTrusted()) return;
    const { leaseMs } = this.#options;
    const sentAtMs = monotonicMs();
    try {
      // A renewal that hangs must not keep the next one, on another connection, from being tried.
      const isOurs = await withLimit(this.#options.renew(), leaseMs / 3);
      if (!this.isTrusted()) return;
      if (!isOurs) return this.#lose("someone else holds it, or it ended");
      this.#trust(sentAtMs);
      this.#renewIn(leaseMs / 3);
    } catch (error) {
      this.#lastError = messageOf(error);
      this.#renewIn(leaseMs / 15);
    }
  }

  #lastError: string | undefined;

  #lose(reason: string): void {
    if (this.#state !== "trusted") return;
    this.#state = "lost";
    this.stop();
    this.#options.onLost(this.#lastError === undefined ? reason : `${reason} (${this.#lastError})`);
  }
}

async function withLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let limitTimer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    limitTimer = timer(() => reject(new Error(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(limitTimer);
    work.catch(() => {});
  }
}
