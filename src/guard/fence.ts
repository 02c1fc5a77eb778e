/** `withFence`: refuses an older token inside the job's own transaction. */
import { EscapementError } from "../base/errors.ts";
import { passFence } from "../store/guard-fence.ts";
import type { Queryable } from "./queryable.ts";

export interface Fence {
  /** What is protected, for example `settle/2026-07-01/3`. */
  readonly resource: string;
  /** Grows with every holder. Text, because it may be greater than a number can hold. */
  readonly token: string | number | bigint;
}

/**
 * Locks the fence row of the resource until the transaction ends, and fails if a
 * holder with a newer token has been here. Call it first in the transaction.
 * @throws E_GUARD_STALE (the transaction can only be rolled back), E_GUARD_NO_TRANSACTION
 */
export async function withFence(tx: Queryable, fence: Fence): Promise<void> {
  await passFence(tx, fence.resource, String(fence.token));
}

/**
 * The fence of a job started by an executor or by `escapement once`.
 * The resource is job, fire time (or period) and shard number.
 * @throws E_BAD_DATA when the environment carries none
 */
export function fenceFromEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Fence {
  const job = env.ESCAPEMENT_JOB;
  const slot = env.ESCAPEMENT_FIRE_TIME ?? env.ESCAPEMENT_PERIOD;
  const token = env.ESCAPEMENT_FENCE_TOKEN;
  if (!job || !slot || !token || !/^\d+$/.test(token)) {
    throw new EscapementError("E_BAD_DATA", {
      what: "no fence in the environment: ESCAPEMENT_JOB, ESCAPEMENT_FIRE_TIME (or _PERIOD) and ESCAPEMENT_FENCE_TOKEN are needed",
      hint: "start the program by an executor or by escapement once",
    });
  }
  return { resource: `${job}/${slot}/${env.ESCAPEMENT_SHARD_NO ?? "0"}`, token };
}
