/** Statements of `once` (see src/store/guard/once.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

const acquireRow = z.object({
  decision: z.enum(["run", "running", "done", "failed", "died", "blocked", "wait", "early"]),
  token: z.string().nullable(),
  attempt: z.number().int().nullable(),
  holder_host: z.string().nullable(),
  holder_pid: z.number().int().nullable(),
  exit_code: z.number().int().nullable(),
  other_slot: z.string().nullable(),
  reason: z.string().nullable(),
  since: z.coerce.date().nullable(),
  lease_until: z.coerce.date().nullable(),
  database_time: z.coerce.date(),
});
/** What the database answers to "may I run?". `other_slot`: an earlier run that still runs, or whose holder died. */
export type OnceAnswer = z.infer<typeof acquireRow>;

export interface OnceClaim {
  readonly job: string;
  readonly slot: string;
  readonly kind: "fire-time" | "period";
  /** One process life; never a host name. */
  readonly holder: string;
  readonly host: string;
  readonly pid: number;
  readonly leaseMs: number;
  readonly blocking: "skip" | "wait" | "fail";
  readonly rerunAfterCrash: boolean;
  readonly rerunAfterFailure: boolean;
}

/** @throws E_GUARD_KEY_DATE (slot without a date), E_GUARD_TOO_OLD */
export async function acquireRun(db: Queryable, claim: OnceClaim): Promise<OnceAnswer> {
  return await guardStep(async () => {
    const answer = await db.query(
      "SELECT * FROM escapement_guard.once_acquire($1, $2, $3, $4, $5, $6, make_interval(secs => $7), $8, $9, $10)",
      [
        claim.job,
        claim.slot,
        claim.kind,
        claim.holder,
        claim.host,
        claim.pid,
        claim.leaseMs / 1_000,
        claim.blocking,
        claim.rerunAfterCrash,
        claim.rerunAfterFailure,
      ],
    );
    return acquireRow.parse(answer.rows[0]);
  });
}

/** False: the lease is lost. */
export async function renewRun(
  db: Queryable,
  job: string,
  slot: string,
  token: string,
  leaseMs: number,
): Promise<boolean> {
  const values = [job, slot, token, leaseMs / 1_000];
  return await yes(
    db,
    "SELECT escapement_guard.once_renew($1, $2, $3, make_interval(secs => $4)) AS yes",
    values,
  );
}

/** How a run ended. */
export interface RunEnd {
  readonly state: "done" | "failed" | "interrupted";
  readonly exitCode: number | null;
  readonly reason: string | null;
}

/** False: someone else holds the run now. */
export async function finishRun(
  db: Queryable,
  job: string,
  slot: string,
  token: string,
  end: RunEnd,
): Promise<boolean> {
  const values = [job, slot, token, end.state, end.exitCode, end.reason];
  return await yes(db, "SELECT escapement_guard.once_finish($1, $2, $3, $4, $5, $6) AS yes", values);
}

/** Gives back a start that never ran anything. */
export async function giveBackRun(
  db: Queryable,
  job: string,
  slot: string,
  token: string,
  reason: string,
): Promise<boolean> {
  return await yes(db, "SELECT escapement_guard.once_give_back($1, $2, $3, $4) AS yes", [
    job,
    slot,
    token,
    reason,
  ]);
}

async function yes(db: Queryable, text: string, values: unknown[]): Promise<boolean> {
  return await guardStep(async () =>
    z.boolean().parse((await db.query<{ yes: unknown }>(text, values)).rows[0]?.yes),
  );
}
