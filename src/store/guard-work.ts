/** Statements of work items (see src/store/guard/work.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

const takenRow = z.object({
  item: z.string(),
  payload: z.unknown(),
  token: z.string(),
  attempt: z.number().int(),
});
export type TakenItem = z.infer<typeof takenRow>;

export interface NewItem {
  readonly item: string;
  readonly payload?: unknown;
}

/** Returns how many were new. @throws E_GUARD_KEY_DATE, E_GUARD_TOO_OLD, E_REFUSED */
export async function addItems(db: Queryable, list: string, items: readonly NewItem[]): Promise<number> {
  return await count(db, "SELECT escapement_guard.work_add($1, $2::jsonb) AS n", [
    list,
    JSON.stringify(items),
  ]);
}

export async function takeItems(
  db: Queryable,
  take: { list: string; holder: string; leaseMs: number; atMost: number; maxAttempts: number },
): Promise<TakenItem[]> {
  return await guardStep(async () => {
    const answer = await db.query(
      "SELECT item, payload, token, attempt FROM escapement_guard.work_take($1, $2, make_interval(secs => $3), $4, $5)",
      [take.list, take.holder, take.leaseMs / 1_000, take.atMost, take.maxAttempts],
    );
    return z.array(takenRow).parse(answer.rows);
  });
}

/** Returns how many items this holder still holds. */
export async function renewItems(
  db: Queryable,
  list: string,
  holder: string,
  leaseMs: number,
): Promise<number> {
  return await count(db, "SELECT escapement_guard.work_renew($1, $2, make_interval(secs => $3)) AS n", [
    list,
    holder,
    leaseMs / 1_000,
  ]);
}

/** @throws E_GUARD_STALE when the item was taken over */
export async function finishItem(
  tx: Queryable,
  list: string,
  item: string,
  token: string,
  result: unknown,
): Promise<void> {
  const values = [list, item, token, JSON.stringify(result ?? null)];
  await guardStep(() => tx.query("SELECT escapement_guard.work_done($1, $2, $3, $4::jsonb)", values));
}

/** Gives an item back. Returns its state now, or undefined when it was not ours any more. */
export async function releaseItem(
  db: Queryable,
  release: {
    list: string;
    item: string;
    token: string;
    error: string;
    maxAttempts: number;
    retryAfterMs: number;
  },
) {
  return await guardStep(async () => {
    const answer = await db.query<{ state: string | null }>(
      "SELECT escapement_guard.work_release($1, $2, $3, $4, $5, make_interval(secs => $6)) AS state",
      [
        release.list,
        release.item,
        release.token,
        release.error,
        release.maxAttempts,
        release.retryAfterMs / 1_000,
      ],
    );
    return z.string().nullable().parse(answer.rows[0]?.state) ?? undefined;
  });
}

const countRow = z.object({
  pending: z.coerce.number(),
  processing: z.coerce.number(),
  done: z.coerce.number(),
  failed: z.coerce.number(),
});
export type ItemCounts = z.infer<typeof countRow>;

export async function countItems(db: Queryable, list: string): Promise<ItemCounts> {
  return await guardStep(async () =>
    countRow.parse(
      (
        await db.query("SELECT pending, processing, done, failed FROM escapement_guard.work_count($1)", [
          list,
        ])
      ).rows[0],
    ),
  );
}

async function count(db: Queryable, text: string, values: unknown[]): Promise<number> {
  return await guardStep(async () =>
    z.coerce.number().parse((await db.query<{ n: unknown }>(text, values)).rows[0]?.n),
  );
}
