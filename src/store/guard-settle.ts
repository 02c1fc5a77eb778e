/** What a person decides about a call in doubt or a run whose holder died (see src/store/guard/call.sql and once.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

export interface Settlement {
  readonly kind: "call" | "run";
  /** Of a run: job/slot. */
  readonly key: string;
  readonly to: "done" | "ready";
  readonly by: string;
  readonly reason: string;
}

/** Returns the state before. @throws E_REFUSED when there is nothing to settle */
export async function settle(db: Queryable, { kind, key, to, by, reason }: Settlement): Promise<string> {
  const step = kind === "run" ? "once_settle" : "call_settle";
  return await guardStep(async () => {
    const answer = await db.query<{ state: string }>(
      `SELECT escapement_guard.${step}($1, $2, $3, $4) AS state`,
      [key, to, by, reason],
    );
    return z.string().parse(answer.rows[0]?.state);
  });
}
