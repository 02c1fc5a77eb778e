/** Statements of the ledger of external calls (see src/store/guard/call.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

export interface CallIntention {
  readonly key: string;
  readonly receiver: string;
  readonly deduplicating: boolean;
  /** Already redacted; the database redacts once more. */
  readonly request: unknown;
  readonly leaseMs: number;
  readonly secretFields: readonly string[];
}

const beginRow = z.object({
  decision: z.enum(["call", "done", "refused", "in-doubt", "busy"]),
  token: z.string().nullable(),
  attempt: z.number().int().nullable(),
  response: z.unknown(),
  reason: z.string().nullable(),
});
export type CallBegin = z.infer<typeof beginRow>;

/** @throws E_GUARD_KEY_REUSED, E_GUARD_KEY_DATE, E_GUARD_TOO_OLD, E_REFUSED */
export async function beginCall(db: Queryable, call: CallIntention): Promise<CallBegin> {
  return await guardStep(async () => {
    const answer = await db.query(
      `SELECT decision, token, attempt, response, reason
         FROM escapement_guard.call_begin($1, $2::jsonb, $3, $4, make_interval(secs => $5), $6)`,
      [
        call.key,
        JSON.stringify(call.request ?? null),
        call.receiver,
        call.deduplicating,
        call.leaseMs / 1_000,
        call.secretFields,
      ],
    );
    return beginRow.parse(answer.rows[0]);
  });
}

/** The last look before the call leaves. @throws E_GUARD_IN_TRANSACTION, E_GUARD_STALE */
export async function confirmCall(db: Queryable, key: string, token: string): Promise<void> {
  await guardStep(() => db.query("SELECT escapement_guard.call_confirm($1, $2)", [key, token]));
}

export type CallState = "pending" | "in-doubt" | "ready" | "done" | "refused";
const stateRow = z.object({ state: z.enum(["pending", "in-doubt", "ready", "done", "refused"]) });

async function end(db: Queryable, text: string, values: unknown[]): Promise<CallState> {
  return await guardStep(async () => stateRow.parse((await db.query(text, values)).rows[0]).state);
}

/** Each returns the state the call has now. @throws E_GUARD_STALE when another attempt is ahead */
export async function callDone(
  db: Queryable,
  key: string,
  token: string,
  response: unknown,
  secretFields: readonly string[],
) {
  const values = [key, token, JSON.stringify(response ?? null), secretFields];
  return await end(db, "SELECT escapement_guard.call_done($1, $2, $3::jsonb, $4) AS state", values);
}

export async function callRefused(
  db: Queryable,
  key: string,
  token: string,
  response: unknown,
  secretFields: readonly string[],
) {
  const values = [key, token, JSON.stringify(response ?? null), secretFields];
  return await end(db, "SELECT escapement_guard.call_refused($1, $2, $3::jsonb, $4) AS state", values);
}

export async function callDoubt(db: Queryable, key: string, token: string, reason: string) {
  return await end(db, "SELECT escapement_guard.call_doubt($1, $2, $3) AS state", [key, token, reason]);
}

export async function callUnsent(db: Queryable, key: string, token: string, reason: string) {
  return await end(db, "SELECT escapement_guard.call_unsent($1, $2, $3) AS state", [key, token, reason]);
}
