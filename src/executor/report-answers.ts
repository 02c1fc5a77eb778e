/** What the executor answers to its children. */
import { EscapementError } from "../base/errors.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { heavyKeys, ordinaryShardCount } from "../spec/shard-count.ts";
import { shardOf } from "../spec/shard-of.ts";
import { heldShards } from "../store/claim.ts";
import { readCheckpoint, saveCheckpoint } from "../store/completion.ts";
import { frozenKeysOf } from "../store/frozen-key.ts";
import { claimKey } from "../store/shard-key.ts";
import type { Attempt } from "./attempt.ts";
import type { AttemptRunner } from "./attempt-runner.ts";
import type { ExecutorContext } from "./context.ts";
import type { ReportHandler, ReportRequest } from "./report-socket.ts";

export function reportHandler(context: ExecutorContext, runner: AttemptRunner): ReportHandler {
  return {
    byCapability: (capability) => runner.byCapability(capability),
    answer: (attempt, request) => answer(context, runner, attempt, request),
  };
}

async function answer(
  context: ExecutorContext,
  runner: AttemptRunner,
  attempt: Attempt,
  request: ReportRequest,
): Promise<Record<string, unknown>> {
  const { db, metrics, log } = context;
  if ("checkpoint" in request) {
    if (request.rows !== undefined) attempt.rows = request.rows;
    const { incarnation } = attempt.lease;
    const held = await saveCheckpoint(db, incarnation, attempt.claim, request.checkpoint, attempt.rows);
    if (!held) {
      metrics.refused.add(1, { kind: "checkpoint" });
      log.warn(attempt.fields, "checkpoint refused: the claim is not held any more");
      // The child hears it, too; one that goes on regardless is killed.
      runner.kill(attempt, "not-held");
    }
    return { held };
  }
  if ("rows" in request) {
    attempt.rows = request.rows;
    return {};
  }
  if ("log" in request) {
    runner.note(attempt, request.log);
    return {};
  }
  if ("hold" in request) return holding(context, attempt);
  if (request.get === "keys") return { keys: await keysOf(context, attempt) };
  const checkpoint = await readCheckpoint(db, attempt.claim);
  return { checkpoint: checkpoint?.data ?? null, rows: checkpoint?.rows ?? null };
}

/** Asks the store: our own word would be as old as the last look. */
async function holding({ db }: ExecutorContext, attempt: Attempt): Promise<Record<string, unknown>> {
  const key = claimKey(attempt.claim);
  const shards = await heldShards(db, attempt.lease.incarnation);
  const shard = shards.find((one) => claimKey(one) === key);
  const trustedForMs = Math.max(0, Math.floor(attempt.lease.trustedUntilMs - monotonicMs()));
  const leased = attempt.lease.trusted || attempt.continuesFenced;
  return { held: shard !== undefined && !shard.cancelRequested && leased, trustedForMs };
}

/** The business keys of a shard, where the executor knows them. */
async function keysOf({ db }: ExecutorContext, { claim, definition }: Attempt): Promise<readonly string[]> {
  const { shards } = definition;
  const ordinary = ordinaryShardCount(definition);
  const heavy = heavyKeys(definition);
  const own = heavy[claim.shardNo - ordinary];
  if (own !== undefined) return [own];
  if (shards.by === "frozen") return frozenKeysOf(db, claim);
  if (shards.by === "keys")
    return shards.keys.filter((key) => !heavy.includes(key) && shardOf(key, ordinary) === claim.shardNo);
  throw new EscapementError("E_REFUSED", {
    what: `shards by ${shards.by} have no list of keys`,
    hint: "compare shard_of(key, ESCAPEMENT_HASH_SHARDS) with ESCAPEMENT_SHARD_NO",
  });
}
