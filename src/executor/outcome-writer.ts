/**
 * Writes how attempts ended, and counts and logs what the store said to it.
 *
 * A claim is "expected" from its answer until its outcome is settled; what the
 * store says we hold and nobody expects is handed back by the holding watch.
 */
import { monotonicMs } from "../base/monotonic.ts";
import type { ClaimedShard } from "../store/claim.ts";
import { claimKey, type FencedShard } from "../store/shard-key.ts";
import type { Attempt } from "./attempt.ts";
import type { CompletionQueue } from "./completion-queue.ts";
import type { ExecutorContext } from "./context.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { EndAnswer } from "./outcome.ts";

export class OutcomeWriter {
  readonly #context: ExecutorContext;
  readonly #completions: CompletionQueue;
  readonly #expected = new Set<string>();

  constructor(context: ExecutorContext, completions: CompletionQueue) {
    this.#context = context;
    this.#completions = completions;
  }

  expect(claim: FencedShard): void {
    this.#expected.add(claimKey(claim));
  }

  forget(claim: FencedShard): void {
    this.#expected.delete(claimKey(claim));
  }

  isExpected(claim: FencedShard): boolean {
    return this.#expected.has(claimKey(claim));
  }

  /** @param attempt absent when nothing was started */
  async write(claim: ClaimedShard, lease: LeaseKeeper, answer: EndAnswer, attempt?: Attempt): Promise<void> {
    this.expect(claim);
    const { jobId, fireTime, shardNo, fenceToken } = claim;
    const end = { jobId, fireTime, shardNo, fenceToken, ...answer, rows: attempt?.rows ?? null };
    const mayWait = () => lease.trusted || (attempt?.continuesFenced ?? false);
    const result = await this.#completions.write(end, lease.incarnation, mayWait);
    this.forget(claim);
    const { log, metrics } = this.#context;
    const fields = {
      ...(attempt?.fields ?? { jobId, fireTime: fireTime.toISOString(), shard: shardNo, fenceToken }),
      outcome: answer.outcome,
      ...(answer.exitCode === null ? {} : { exitCode: answer.exitCode }),
      ...(answer.error === null ? {} : { error: answer.error }),
    };
    if (result === "accepted") {
      metrics.ends.add(1, { outcome: answer.outcome });
      const ms = attempt ? { ms: Math.round(monotonicMs() - attempt.claimedAtMs) } : {};
      log.info({ ...fields, ...ms }, "attempt ended");
    } else if (result === "refused") {
      metrics.refused.add(1, { kind: answer.outcome });
      log.warn(fields, "outcome refused: the claim is not held any more");
    } else {
      metrics.givenUp.add();
      log.warn(fields, "outcome not written: the store was away for too long");
    }
  }
}
