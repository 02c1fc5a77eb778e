/** What the drills of a class have shown: the last pass that counts, and what came after it. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export interface DrillHistoryRow {
  readonly class: string;
  readonly runId: string;
  readonly drill: string;
  readonly targets: unknown;
  readonly endedAt: Date;
  readonly verdict: "pass" | "fail" | "unknown";
  readonly reason: string | null;
  readonly version: string;
  /** The fault was in effect and was taken back, on some host: a pass without that shows nothing. */
  readonly happened: boolean;
  /** By the database's clock. */
  readonly ageMs: number;
}

/** The newest ended run of each class and verdict. */
export function readDrillHistory(db: Queryable, classes: readonly string[]): Promise<Look<DrillHistoryRow>> {
  return look<DrillHistoryRow>(
    db,
    `SELECT DISTINCT ON (class, verdict, happened) class, run_id AS "runId", drill, targets, ended_at AS "endedAt", verdict, reason,
       version, happened, (extract(epoch FROM clock_timestamp() - ended_at) * 1000)::double precision AS "ageMs"
     FROM (SELECT *, fault_at IS NOT NULL AND restored_at IS NOT NULL AND jsonb_array_length(targets) > 0 AS happened
           FROM escapement.drill_run WHERE class = ANY ($1) AND state = 'ended') d
     ORDER BY class, verdict, happened, ended_at DESC`,
    [classes],
  );
}
