/** What is not settled: for lists, checks and people. */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

const openRow = z.object({
  kind: z.enum(["call", "run", "items"]),
  key: z.string(),
  state: z.string(),
  since: z.coerce.date(),
  attempt: z.coerce.number().nullable(),
  detail: z.string(),
  in_doubt: z.boolean(),
});
/** One open matter. `in_doubt`: a person has to settle it. */
export type OpenEntry = z.infer<typeof openRow>;

/**
 * Calls in doubt first, then runs, then lists with failed items.
 * @param onlyInDoubt leave out what needs nobody's decision.
 */
export async function listOpen(db: Queryable, onlyInDoubt: boolean): Promise<OpenEntry[]> {
  return await guardStep(async () => {
    await db.query("SELECT escapement_guard.call_sweep()");
    const answer = await db.query(
      `SELECT kind, key, state, since, attempt, detail, in_doubt FROM (
         SELECT 'call' AS kind, key, state, changed_at AS since, attempt, state = 'in-doubt' AS in_doubt,
                receiver || ' ' || left(request::text, 200) || coalesce(' | ' || reason, '') AS detail
           FROM escapement_guard.external_call WHERE state <> 'done'
         UNION ALL
         SELECT 'run', job || '/' || slot,
                CASE WHEN state = 'running' AND lease_until <= clock_timestamp() THEN 'holder died' ELSE state END,
                coalesce(ended_at, started_at), attempt,
                state = 'interrupted' OR (state = 'running' AND lease_until <= clock_timestamp()),
                host || ' pid ' || pid || coalesce(' | ' || reason, '')
           FROM escapement_guard.once_run WHERE state IN ('running', 'failed', 'interrupted', 'ready')
         UNION ALL
         SELECT 'items', list, 'failed', max(changed_at), NULL, false,
                count(*) || ' failed, for example ' || min(item) || coalesce(': ' || left(min(error), 200), '')
           FROM escapement_guard.work_item WHERE state = 'failed' GROUP BY list
       ) AS open WHERE in_doubt OR NOT $1 ORDER BY kind, since`,
      [onlyInDoubt],
    );
    return z.array(openRow).parse(answer.rows);
  });
}

const namedRow = z.object({ kind: z.enum(["call", "run"]), open: z.boolean() });

/** What carries this key, settled or not. `open`: it is not done. */
export async function namedBy(db: Queryable, key: string): Promise<z.infer<typeof namedRow>[]> {
  return await guardStep(async () => {
    const answer = await db.query(
      `SELECT 'call' AS kind, state <> 'done' AS open FROM escapement_guard.external_call
         WHERE key = $1 AND key_date = escapement_guard.key_date_or_null($1)
       UNION ALL
       SELECT 'run', state <> 'done' FROM escapement_guard.once_run WHERE job || '/' || slot = $1`,
      [key],
    );
    return z.array(namedRow).parse(answer.rows);
  });
}

const pruneRow = z.object({ what: z.string(), outcome: z.string() });

/** Drops what is older than `keepMonths` whole months by the database clock, and creates the months ahead. */
export async function pruneGuard(db: Queryable, keepMonths: number) {
  return await guardStep(async () => {
    const mark = await db.query<{ mark: string }>(
      "SELECT escapement_guard.prune_mark((clock_timestamp() - make_interval(months => $1))::date)::text AS mark",
      [keepMonths],
    );
    const dropped = await db.query("SELECT what, outcome FROM escapement_guard.prune_drop()");
    const created = await db.query<{ name: string }>(
      "SELECT name FROM escapement_guard.ensure_months(clock_timestamp()::date, (clock_timestamp() + interval '12 months')::date) AS name",
    );
    return {
      mark: z.string().parse(mark.rows[0]?.mark),
      dropped: z.array(pruneRow).parse(dropped.rows),
      created: created.rows.map((row) => z.string().parse(row.name)),
    };
  });
}
