/** Ended drills of a class, as evidence. */
import type { Queryable } from "../database.ts";

export interface EndedDrill {
  readonly runId: string;
  readonly drill: string;
  readonly class: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly verdict: "pass" | "fail" | "unknown";
  readonly reason: string | null;
  readonly targets: unknown;
  readonly summary: unknown;
}

/** Newest first, at most 50. */
export async function drillHistory(db: Queryable, drillClass: string): Promise<readonly EndedDrill[]> {
  const { rows } = await db.query<EndedDrill>(
    `SELECT run_id AS "runId", drill, class, started_at AS "startedAt", ended_at AS "endedAt", verdict, reason, targets, summary
     FROM escapement.drill_run WHERE class = $1 AND ended_at IS NOT NULL ORDER BY started_at DESC LIMIT 50`,
    [drillClass],
  );
  return rows;
}
