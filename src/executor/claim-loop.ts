/**
 * Looks for work: opens what is due, claims what is claimable, sleeps until the
 * next planned instant or retry, and never longer than a second. All waiting is
 * monotonic and relative to what the database said.
 */
import { isEscapementError, messageOf } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { ResourceClass } from "../spec/job-definition.ts";
import { type ClaimedShard, claimShards, type LaneOutlook, laneOutlook } from "../store/claim.ts";
import { openDue } from "../store/opening.ts";
import { readWorkOrders, type WorkOrder } from "../store/work-order.ts";
import type { AttemptRunner } from "./attempt-runner.ts";
import type { ExecutorContext } from "./context.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { type EndAnswer, handBack, tryAgain } from "./outcome.ts";
import type { OutcomeWriter } from "./outcome-writer.ts";

const longestSleepMs = 1_000;
/** One statement claims no more. */
const claimBatch = 200;
/** Opening must not keep us from claiming what is open already. */
const openingBudgetMs = 200;
/** Something is due but someone else is at it: look again this soon, then less often. */
const contendedMs = { first: 5, most: 250 };

const noDelay = { maxAttempts: 1, delaysMs: [] };

export class ClaimLoop {
  readonly #context: ExecutorContext;
  readonly #runner: AttemptRunner;
  readonly #outcomes: OutcomeWriter;
  readonly #lease: LeaseKeeper;
  #wake = new AbortController();
  #contended = 0;
  #failing = false;
  /** A claim is on its way: the store may know of shards that we do not. */
  claiming = false;

  constructor(context: ExecutorContext, runner: AttemptRunner, outcomes: OutcomeWriter, lease: LeaseKeeper) {
    this.#context = context;
    this.#runner = runner;
    this.#outcomes = outcomes;
    this.#lease = lease;
  }

  /** Ends the present sleep. */
  wake(): void {
    this.#wake.abort();
  }

  /** Until `signal` fires; it does when the lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    while (!signal.aborted) {
      this.#wake = new AbortController();
      let waitMs: number;
      try {
        waitMs = await this.#round(signal);
        if (this.#failing) this.#context.log.info({}, "looking for work again");
        this.#failing = false;
      } catch (error) {
        if (!this.#failing && !signal.aborted && this.#lease.trusted)
          this.#context.log.warn({ reason: messageOf(error) }, "cannot look for work; trying again");
        this.#failing = true;
        waitMs = longestSleepMs / 2;
      }
      if (waitMs > 0 && !signal.aborted) await sleep(waitMs, this.#wake.signal);
    }
    signal.removeEventListener("abort", wake);
  }

  /** @returns how long to sleep */
  async #round(signal: AbortSignal): Promise<number> {
    const { db, metrics } = this.#context;
    metrics.rounds.add();
    const sentMs = monotonicMs();
    const opening = await openDue(db, { budgetMs: openingBudgetMs });
    // The database read its clock somewhere between question and answer.
    const readMs = (sentMs + monotonicMs()) / 2;
    const dueMs = opening.nextDueInMs === null ? null : readMs + opening.nextDueInMs;
    if (signal.aborted) return 0;
    const askedMs = monotonicMs();
    const outlook = await laneOutlook(db);
    let claimed = 0;
    for (const catchUp of [false, true]) {
      if (signal.aborted) return 0;
      const ready = outlook.filter((lane) => lane.catchUp === catchUp && lane.dueInMs <= 0);
      claimed += await this.#claimAll(
        ready.map((lane) => lane.class),
        catchUp,
      );
    }
    if (claimed === 0) return this.#sleepMs(dueMs, askedMs, outlook);
    // There may be more: look again at once.
    this.#contended = 0;
    return 0;
  }

  /** Side by side: each class has slots of its own. */
  async #claimAll(of: readonly ResourceClass[], catchUp: boolean): Promise<number> {
    this.claiming = true;
    try {
      // All of them to their ends: none may be on its way any more when `claiming` is taken back.
      const results = await Promise.allSettled(of.map((one) => this.#claim(one, catchUp)));
      const failure = results.find((result) => result.status === "rejected");
      if (failure) throw failure.reason;
      return results.reduce((sum, result) => sum + (result.status === "fulfilled" ? result.value : 0), 0);
    } catch (error) {
      if (isEscapementError(error) && error.code === "E_LEASE_LOST") this.#lease.suspect();
      throw error;
    } finally {
      this.claiming = false;
    }
  }

  #sleepMs(dueMs: number | null, askedMs: number, outlook: readonly LaneOutlook[]): number {
    const now = monotonicMs();
    let waitMs = longestSleepMs;
    let contended = dueMs !== null && dueMs <= now;
    if (dueMs !== null && dueMs > now) waitMs = Math.min(waitMs, dueMs - now);
    for (const lane of outlook) {
      if (this.#runner.freeSlots(lane.class) === 0) continue;
      const left = askedMs + lane.dueInMs - now;
      if (left > 0) waitMs = Math.min(waitMs, left);
      // Catch-up that is at its cap is woken by an end; ordinary work that is due is being taken by others.
      else contended ||= !lane.catchUp;
    }
    if (!contended) {
      this.#contended = 0;
      // Timers cut off fractions: without rounding up, the next round would come too early and find nothing.
      return Math.max(1, Math.ceil(waitMs));
    }
    this.#contended = Math.min(contendedMs.most, Math.max(contendedMs.first, this.#contended * 2));
    return Math.min(waitMs, this.#contended);
  }

  async #claim(of: ResourceClass, catchUp: boolean): Promise<number> {
    const limit = Math.min(claimBatch, this.#runner.freeSlots(of));
    if (limit === 0 || !this.#lease.trusted) return 0;
    const { db, cluster, metrics } = this.#context;
    const claims = await claimShards(db, {
      incarnation: this.#lease.incarnation,
      class: of,
      limit,
      catchUp,
      catchUpShare: cluster.catchUp.share,
    });
    if (claims.length > 0) metrics.claims.add(claims.length, { class: of });
    await this.#startAll(claims);
    return claims.length;
  }

  async #startAll(claims: readonly ClaimedShard[]): Promise<void> {
    if (claims.length === 0) return;
    const refuse = (claim: ClaimedShard, answer: EndAnswer) =>
      void this.#outcomes.write(claim, this.#lease, answer);
    const orders = new Map<string, WorkOrder>();
    try {
      for (const order of await readWorkOrders(this.#context.db, distinctExecutions(claims)))
        orders.set(executionKey(order), order);
    } catch (error) {
      for (const claim of claims) refuse(claim, handBack(`not started: ${messageOf(error)}`));
      throw error;
    }
    for (const claim of claims) {
      const order = orders.get(executionKey(claim));
      if (order) this.#runner.start(claim, order, this.#lease);
      else refuse(claim, tryAgain({ ...claim, retry: noDelay }, null, "its execution has no record"));
    }
  }
}

function executionKey(of: { jobId: number; fireTime: Date }): string {
  return `${of.jobId}/${of.fireTime.getTime()}`;
}

function distinctExecutions(claims: readonly ClaimedShard[]): { jobId: number; fireTime: Date }[] {
  return [...new Map(claims.map((claim) => [executionKey(claim), claim])).values()];
}
