/** Calls to the outside that the guard of the job's own database knows of, by the idempotency key of an execution. */
import { EscapementError } from "../../base/errors.ts";
import type { Database } from "../database.ts";

export interface CallCount {
  /** The beginning of the keys: `namespace/job/period` or `namespace/job/fire time`. */
  readonly prefix: string;
  readonly done: number;
  /** In doubt, or pending although its lease has ended: nobody knows whether the receiver has it. */
  readonly inDoubt: number;
  /** Repeated at a receiver that does not recognise a repeat: a person said that the one in doubt had not arrived. */
  readonly repeated: number;
}

/**
 * Counts the calls of each execution, in a read-only transaction.
 * @throws E_GUARD_NOT_INSTALLED
 */
export async function readCalls(db: Database, prefixes: readonly string[]): Promise<CallCount[]> {
  return db.transaction(async (tx) => {
    await tx.query("SET TRANSACTION READ ONLY");
    const { rows: installed } = await tx.query<{ there: boolean }>(
      "SELECT to_regclass('escapement_guard.external_call') IS NOT NULL AS there",
    );
    if (!installed[0]?.there) throw new EscapementError("E_GUARD_NOT_INSTALLED");
    const { rows } = await tx.query<CallCount>(
      `SELECT w.prefix, count(*) FILTER (WHERE c.state = 'done')::integer AS done,
         count(*) FILTER (WHERE c.state = 'in-doubt' OR c.state = 'pending' AND c.lease_until < clock_timestamp())::integer AS "inDoubt",
         count(*) FILTER (WHERE c.state = 'done' AND NOT c.deduplicating AND c.attempt > 1 AND (c.doubt OR EXISTS (
           SELECT FROM escapement_guard.settlement s WHERE s.kind = 'call' AND s.key = c.key
             AND s.state_before = 'in-doubt' AND s.state_after = 'ready')))::integer AS repeated
       FROM unnest($1::text[]) w(prefix)
       JOIN escapement_guard.external_call c ON starts_with(c.key, w.prefix)
         AND (length(c.key) = length(w.prefix) OR substr(c.key, length(w.prefix) + 1, 1) IN ('/', ':', '#'))
       GROUP BY w.prefix`,
      [prefixes],
    );
    return rows;
  });
}
