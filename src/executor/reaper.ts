/**
 * Looks after the other executors: declares dead whose lease has ended and has
 * not moved for a whole lease by our own clock, and takes over at once from a
 * process of this host and boot that is gone.
 */
import { messageOf } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import {
  clampExecutorLeases,
  type ExecutorRow,
  livingExecutors,
  reapExecutor,
  takeOver,
} from "../store/executor.ts";
import type { LeaseObserver } from "../store/lease-observer.ts";
import type { AttemptRunner } from "./attempt-runner.ts";
import type { ExecutorContext } from "./context.ts";
import { isProcessGone } from "./host-facts.ts";
import { endScopes } from "./job-scope.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { canSearch, killMarked } from "./leftovers.ts";
import { supervisorMark } from "./supervisor-link.ts";

const shortestPauseMs = 1_000;
const longestPauseMs = 3_000;
/** In a large cluster everyone looks less often, so that looking does not grow with the square of its size. */
const pausePerExecutorMs = 20;
/** How long killed processes may take to disappear. */
const killLimitMs = 10_000;

export class Reaper {
  readonly #context: ExecutorContext;
  readonly #runner: AttemptRunner;
  readonly #lease: LeaseKeeper;
  readonly #observer: LeaseObserver;

  /** @param observer outlives the incarnation, as its observation does not depend on it */
  constructor(context: ExecutorContext, runner: AttemptRunner, lease: LeaseKeeper, observer: LeaseObserver) {
    this.#context = context;
    this.#runner = runner;
    this.#lease = lease;
    this.#observer = observer;
  }

  /** Until `signal` fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = shortestPauseMs;
      try {
        const living = await this.look();
        pauseMs = Math.min(longestPauseMs, Math.max(pauseMs, living * pausePerExecutorMs));
      } catch (error) {
        this.#observer.forget();
        this.#context.log.debug({ reason: messageOf(error) }, "cannot look after the other executors");
      }
      await sleep(pauseMs, signal);
    }
  }

  /** @returns how many executors live */
  async look(): Promise<number> {
    const { db, log, metrics } = this.#context;
    const askedMs = monotonicMs();
    await clampExecutorLeases(db);
    const others = (await livingExecutors(db)).filter((row) => row.incarnation !== this.#lease.incarnation);
    for (const row of this.#observer.observe(others, askedMs)) {
      const shards = await reapExecutor(db, row.incarnation, row.leaseUntil);
      if (shards === null) continue;
      metrics.reaped.add();
      log.warn({ executor: row.node, dead: row.incarnation, shards }, "executor declared dead");
    }
    for (const row of others) await this.#takeOver(row);
    return others.length + 1;
  }

  async #takeOver(row: ExecutorRow): Promise<void> {
    const { host, db, log, metrics } = this.#context;
    if (row.host !== host.host || row.bootId !== host.bootId) return;
    const own = row.pid === host.pid && row.processStart === host.processStart;
    if (own ? this.#runner.runsFor(row.incarnation) : !isProcessGone(row.pid, row.processStart)) return;
    if (!own && !(await this.#clear(row))) return;
    const shards = await takeOver(db, this.#lease.incarnation, row.incarnation);
    if (shards === null) return;
    metrics.takenOver.add();
    log.info(
      { from: row.incarnation, executor: row.node, shards },
      "took over from an incarnation that is gone",
    );
  }

  /** Kills what a dead process left behind, its supervisor first, so that nothing new is started. */
  async #clear(row: ExecutorRow): Promise<boolean> {
    if (!canSearch()) return false;
    const marks = [supervisorMark(row.pid, row.processStart), `ESCAPEMENT_INCARNATION=${row.incarnation}`];
    for (const mark of marks) {
      const { killed, left } = await killMarked([mark], killLimitMs);
      if (killed.length > 0)
        this.#context.log.info({ killed, of: row.incarnation }, "killed what was left behind");
      if (left.length > 0) {
        this.#context.log.error(
          { left, of: row.incarnation },
          "cannot kill what was left behind; its lease must end",
        );
        return false;
      }
    }
    if (this.#context.cluster.executor.isolation === "none") return true;
    const { ended, left } = await endScopes(row.incarnation, killLimitMs);
    if (ended.length > 0)
      this.#context.log.info({ ended, of: row.incarnation }, "ended scopes that were left behind");
    if (left?.length !== 0)
      this.#context.log.error(
        { left: left ?? "systemd does not answer", of: row.incarnation },
        "cannot end the scopes that were left behind; its lease must end",
      );
    return left?.length === 0;
  }
}
