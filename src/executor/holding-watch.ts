/**
 * Compares, every second, what the store says we hold with what we run:
 *
 *   we run it, the store does not know it   → it is someone else's: kill
 *   the store wants it cancelled            → SIGTERM, then SIGKILL
 *   the store says we hold it, we do not    → the answer to a claim was lost: hand it back
 */
import { messageOf } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { type HeldShard, heldShards } from "../store/claim.ts";
import { completeAttempts } from "../store/completion.ts";
import { claimKey } from "../store/shard-key.ts";
import type { AttemptRunner } from "./attempt-runner.ts";
import type { ClaimLoop } from "./claim-loop.ts";
import type { ExecutorContext } from "./context.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { handBack } from "./outcome.ts";
import type { OutcomeWriter } from "./outcome-writer.ts";

const everyMs = 1_000;

export class HoldingWatch {
  readonly #context: ExecutorContext;
  readonly #runner: AttemptRunner;
  readonly #outcomes: OutcomeWriter;
  readonly #lease: LeaseKeeper;
  readonly #claims: ClaimLoop;
  #strangers = new Set<string>();

  constructor(
    context: ExecutorContext,
    runner: AttemptRunner,
    outcomes: OutcomeWriter,
    lease: LeaseKeeper,
    claims: ClaimLoop,
  ) {
    this.#context = context;
    this.#runner = runner;
    this.#outcomes = outcomes;
    this.#lease = lease;
    this.#claims = claims;
  }

  /** Until `signal` fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(everyMs, signal);
      if (signal.aborted) return;
      try {
        await this.look();
      } catch (error) {
        this.#strangers.clear();
        this.#context.log.debug({ reason: messageOf(error) }, "cannot compare holdings");
      }
    }
  }

  async look(): Promise<void> {
    const askedMs = monotonicMs();
    const claiming = this.#claims.claiming;
    const held = await heldShards(this.#context.db, this.#lease.incarnation);
    const byKey = new Map(held.map((shard) => [claimKey(shard), shard]));
    for (const attempt of this.#runner.attempts(this.#lease)) {
      const shard = byKey.get(claimKey(attempt.claim));
      if (shard?.cancelRequested) this.#runner.stop(attempt, "cancel");
      // The question was sent after its claim was answered, so the store should know it.
      else if (!shard && attempt.claimedAtMs < askedMs) this.#runner.kill(attempt, "not-held");
    }
    if (claiming || this.#claims.claiming) this.#strangers.clear();
    else await this.#returnStrangers(held);
  }

  /** Only what was strange at two looks in a row, with no claim on its way at either. */
  async #returnStrangers(held: readonly HeldShard[]): Promise<void> {
    const strange = held.filter((shard) => !this.#outcomes.isExpected(shard));
    const again = strange.filter((shard) => this.#strangers.has(claimKey(shard)));
    this.#strangers = new Set(strange.map(claimKey));
    if (again.length === 0) return;
    this.#context.log.warn({ shards: again.length }, "handing back shards whose claim was not answered");
    const answer = handBack("the answer to its claim was lost");
    await completeAttempts(
      this.#context.db,
      this.#lease.incarnation,
      again.map((shard) => ({
        ...shard,
        ...answer,
        outcome: shard.cancelRequested ? "cancelled" : answer.outcome,
        rows: null,
      })),
    );
  }
}
