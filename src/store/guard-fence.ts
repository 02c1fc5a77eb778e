/** Statements of the fence and of checkpoints (see src/store/guard/fence.sql and checkpoint.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";
import { askTwice } from "./guard-transaction.ts";

const passedRow = z.object({ passed: z.boolean().nullable() });

/** Locks the fence row and refuses an older token. @throws E_GUARD_NO_TRANSACTION, E_GUARD_STALE, E_GUARD_TOO_OLD */
export async function passFence(tx: Queryable, resource: string, token: string): Promise<void> {
  await askTwice(async () => {
    const answer = await tx.query("SELECT escapement_guard.fence($1, $2, true) AS passed", [resource, token]);
    return passedRow.parse(answer.rows[0]).passed ?? undefined;
  });
}

const openRow = z.object({ saved: z.unknown(), token: z.string() });

/** Takes a checkpoint over; `saved` is null when nothing was saved yet. @throws E_GUARD_KEY_DATE, E_GUARD_TOO_OLD */
export async function openCheckpoint(
  db: Queryable,
  key: string,
): Promise<{ saved?: unknown; token: string }> {
  return await guardStep(async () => {
    const answer = await db.query("SELECT saved, token FROM escapement_guard.checkpoint_open($1)", [key]);
    return openRow.parse(answer.rows[0]);
  });
}

/** @throws E_GUARD_NO_TRANSACTION, E_GUARD_STALE */
export async function saveCheckpoint(
  tx: Queryable,
  key: string,
  token: string,
  position: unknown,
): Promise<void> {
  await askTwice(async () => {
    const values = [key, token, JSON.stringify(position ?? null)];
    const answer = await tx.query(
      "SELECT escapement_guard.checkpoint_save($1, $2, $3::jsonb, true) AS passed",
      values,
    );
    return passedRow.parse(answer.rows[0]).passed ?? undefined;
  });
}
