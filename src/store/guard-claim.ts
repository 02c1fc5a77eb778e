/** Statements of `claim` (see src/store/guard/claim.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";
import { askTwice } from "./guard-transaction.ts";

const claimRow = z.object({
  claimed: z.boolean().nullable(),
  result: z.unknown(),
  claimed_at: z.coerce.date().nullable(),
});

export interface KeyClaim {
  /** True: the act is ours. */
  readonly claimed: boolean;
  /** What the first one recorded; null when it recorded nothing. */
  readonly result: unknown;
  readonly claimedAt: Date;
}

/** @throws E_GUARD_NO_TRANSACTION, E_GUARD_KEY_DATE, E_GUARD_TOO_OLD */
export async function claimKey(tx: Queryable, key: string): Promise<KeyClaim> {
  return await askTwice(async () => {
    const answer = await tx.query(
      "SELECT claimed, result, claimed_at FROM escapement_guard.claim($1, NULL, true)",
      [key],
    );
    const row = claimRow.parse(answer.rows[0]);
    if (row.claimed === null) return undefined;
    return { claimed: row.claimed, result: row.result, claimedAt: row.claimed_at ?? new Date(0) };
  });
}

/** The keys that were new, in no particular order. @throws as {@link claimKey} */
export async function claimKeys(tx: Queryable, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  return await askTwice(async () => {
    const answer = await tx.query<{ key: string | null }>(
      "SELECT key FROM escapement_guard.claim_many($1, true) AS key",
      [keys],
    );
    const claimed = z.array(z.string().nullable()).parse(answer.rows.map((row) => row.key));
    return claimed.includes(null) ? undefined : (claimed as string[]);
  });
}

/** Keeps the result of an act. @throws E_GUARD_NO_TRANSACTION when the claim was another transaction's */
export async function recordResult(tx: Queryable, key: string, result: unknown): Promise<void> {
  await guardStep(() =>
    tx.query("SELECT escapement_guard.record($1, $2::jsonb)", [key, JSON.stringify(result)]),
  );
}
