/** Steps that must share a transaction with the act they guard. */
import { EscapementError } from "../base/errors.ts";
import { guardStep } from "./guard-error.ts";

/**
 * Asks once, and once more when the database answers that this transaction was
 * not marked yet (undefined). A second "not marked" proves that the first
 * statement's transaction is over: the connection is in autocommit.
 * @throws E_GUARD_NO_TRANSACTION before anything was written.
 */
export async function askTwice<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const answer = (await guardStep(ask)) ?? (await guardStep(ask));
  if (answer !== undefined) return answer;
  throw new EscapementError("E_GUARD_NO_TRANSACTION", {
    what: "this step must run in the same transaction as the act it guards",
    hint: "send BEGIN on this connection first, and COMMIT after the act; a pool is no transaction",
  });
}
