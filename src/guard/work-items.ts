/** `workItems`: a list worked off item by item, by any number of processes. The states are drawn in src/store/guard/work.sql. */
import { randomUUID } from "node:crypto";
import { EscapementError, isEscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import {
  addItems,
  countItems,
  finishItem,
  type ItemCounts,
  type NewItem,
  releaseItem,
  renewItems,
  type TakenItem,
  takeItems,
} from "../store/guard-work.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import type { Queryable } from "./queryable.ts";
import { reasonOf } from "./reason.ts";

export interface WorkListOptions {
  /** How long an item stays with a process that gives no sign of life; renewed while it works. */
  readonly leaseMs: number;
  /** Takes of one item, kills included, before it is given up as failed. */
  readonly maxAttempts: number;
  /** Pause before an item whose worker failed is taken again; default 1,000. */
  readonly retryAfterMs?: number;
}

export interface WorkItem<P> {
  readonly item: string;
  readonly payload: P;
  /** 1 at the first take. */
  readonly attempt: number;
  /** Grows with every take: a fence token. */
  readonly token: string;
  /** Aborts when the lease of the batch is lost. */
  readonly signal: AbortSignal;
  /**
   * Marks the item done. With `tx`, in the transaction of the act.
   * @throws E_GUARD_STALE it was taken over: roll back
   */
  done(tx?: Queryable, result?: unknown): Promise<void>;
}

export interface WorkSummary extends ItemCounts {
  /** True when every item of the list is done. */
  readonly complete: boolean;
}

export interface WorkOptions {
  /** Items taken at a time; each waits for the ones before it. */
  readonly batch: number;
  /** Stay until no item is open, also those that others hold; default false. */
  readonly untilSettled?: boolean;
  readonly signal?: AbortSignal;
}

export class WorkList<P> {
  readonly #db: Queryable;
  readonly #list: string;
  readonly #options: WorkListOptions;

  constructor(db: Queryable, list: string, options: WorkListOptions) {
    this.#db = db;
    this.#list = list;
    this.#options = options;
  }

  /** Adds what is not on the list yet. @returns how many were new */
  async add(items: readonly (NewItem & { readonly payload?: P })[]): Promise<number> {
    return await addItems(this.#db, this.#list, items);
  }

  /** How the list stands. */
  async summary(): Promise<WorkSummary> {
    const counts = await countItems(this.#db, this.#list);
    return { ...counts, complete: counts.pending + counts.processing + counts.failed === 0 };
  }

  /**
   * Takes items and hands them to `worker`, one after the other, until none is pending.
   * An item whose worker throws, or returns without `done`, is given back, tried again after a pause, and failed
   * after `maxAttempts`.
   */
  async work(options: WorkOptions, worker: (item: WorkItem<P>) => Promise<void>): Promise<WorkSummary> {
    const { leaseMs, maxAttempts } = this.#options;
    while (!options.signal?.aborted) {
      // One holder name a batch: a lost batch can never be renewed by a later one.
      const holder = randomUUID();
      const askedAtMs = monotonicMs();
      const taken = await takeItems(this.#db, {
        list: this.#list,
        holder,
        leaseMs,
        atMost: options.batch,
        maxAttempts,
      });
      if (taken.length > 0) {
        await this.#workBatch(taken, holder, askedAtMs, options, worker);
        continue;
      }
      const now = await this.summary();
      // What is pending now waits for its next attempt; what is processing, others hold.
      if (now.pending + (options.untilSettled ? now.processing : 0) === 0) return now;
      await sleep(Math.min(500, leaseMs / 4, this.#retryAfterMs()), options.signal);
    }
    return await this.summary();
  }

  async #workBatch(
    taken: readonly TakenItem[],
    holder: string,
    askedAtMs: number,
    options: WorkOptions,
    worker: (item: WorkItem<P>) => Promise<void>,
  ): Promise<void> {
    const lost = new AbortController();
    const keeper = new LeaseKeeper({
      leaseMs: this.#options.leaseMs,
      renew: async () => (await renewItems(this.#db, this.#list, holder, this.#options.leaseMs)) > 0,
      onLost: (reason) =>
        lost.abort(new EscapementError("E_LEASE_LOST", { what: `items of ${this.#list}: ${reason}` })),
    });
    keeper.start(askedAtMs);
    try {
      for (const item of taken) {
        if (options.signal?.aborted) {
          await this.#giveBack(item, "stopped before it was begun", 0);
        } else if (keeper.isTrusted()) {
          await this.#workItem(item, lost.signal, worker);
        }
      }
    } finally {
      keeper.stop();
    }
  }

  async #workItem(
    item: TakenItem,
    signal: AbortSignal,
    worker: (item: WorkItem<P>) => Promise<void>,
  ): Promise<void> {
    let isDone = false;
    try {
      await worker({
        item: item.item,
        payload: item.payload as P,
        attempt: item.attempt,
        token: item.token,
        signal,
        done: async (tx, result) => {
          await finishItem(tx ?? this.#db, this.#list, item.item, item.token, result);
          isDone = true;
        },
      });
      if (!isDone) await this.#giveBack(item, "the worker returned without calling done()");
    } catch (error) {
      // Taken over: whoever has it now decides.
      if (isEscapementError(error) && error.code === "E_GUARD_STALE") return;
      await this.#giveBack(item, reasonOf(error));
    }
  }

  #retryAfterMs(): number {
    return this.#options.retryAfterMs ?? 1_000;
  }

  async #giveBack(
    { item, token }: TakenItem,
    error: string,
    retryAfterMs = this.#retryAfterMs(),
  ): Promise<void> {
    const { maxAttempts } = this.#options;
    const release = { list: this.#list, item, token, error, maxAttempts, retryAfterMs };
    // If this does not get through, the item is swept when its lease ends.
    await releaseItem(this.#db, release).catch(() => {});
  }
}
