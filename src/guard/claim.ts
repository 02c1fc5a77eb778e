/** `claim`: insert before the act, in the job's own transaction. */
import { claimKey, claimKeys, recordResult } from "../store/guard-claim.ts";
import type { Queryable } from "./queryable.ts";

export interface ClaimOutcome<T> {
  /** True the first time: the act was run, in this transaction. */
  readonly first: boolean;
  /** What the first act returned, every time; null when it returned nothing. */
  readonly result: T | null;
  /** By the database clock. */
  readonly claimedAt: Date;
}

/**
 * Claims `key` and, only if it is new, runs `act`; both commit or roll back together.
 * Waits while another open transaction holds the same key.
 * @param key text that carries the period or fire time, for example `bonus/2026-07/user-17`.
 * @param tx a connection on which BEGIN was sent; a pool will not do.
 * @param act its result is kept as JSON; nothing is kept when it returns undefined.
 * @throws E_GUARD_NO_TRANSACTION, E_GUARD_KEY_DATE, E_GUARD_TOO_OLD
 */
export async function claim<T = null>(
  key: string,
  tx: Queryable,
  act?: () => Promise<T> | T,
): Promise<ClaimOutcome<T>> {
  const { claimed, result, claimedAt } = await claimKey(tx, key);
  if (!claimed) return { first: false, result: result as T | null, claimedAt };
  const fresh = await act?.();
  if (fresh !== undefined) await recordResult(tx, key, fresh);
  // As JSON gives it back, so that the first answer equals every later one.
  const kept = fresh === undefined ? null : (JSON.parse(JSON.stringify(fresh)) as T);
  return { first: true, result: kept, claimedAt };
}

/** Claims many keys in one statement. @returns those that were new: act on these only. @throws as {@link claim} */
export async function claimMany(keys: readonly string[], tx: Queryable): Promise<string[]> {
  return await claimKeys(tx, keys);
}
