/** What the items of the checklist look at, for tests: a context around a database, with hosts and files as wanted. */
import type { CheckContext, DrillRecord } from "../../src/checklist/context.ts";
import { defaultEvidenceAges } from "../../src/checklist/context.ts";
import type { Queryable } from "../../src/store/database.ts";

/** @param store a database, or why there is none */
export function contextOf(store: Queryable | string, change: Partial<CheckContext> = {}): CheckContext {
  const now = new Date();
  return {
    store:
      typeof store === "string"
        ? { state: "unreachable", reason: store }
        : { state: "open", db: store, now: () => databaseTime(store) },
    definitions: { root: "/nowhere", jobs: [], allJobs: [], digest: "0".repeat(64) },
    hosts: [],
    tier: "machines",
    window: { from: new Date(now.getTime() - 400 * 86_400_000), to: now },
    maxAgeMs: defaultEvidenceAges,
    drills: {
      historyOf: (drillClass) => {
        if (typeof store === "string") throw new Error(store);
        return drillHistory(store, drillClass);
      },
    },
    at: () => new Date().toISOString(),
    signal: new AbortController().signal,
    ...change,
  };
}

async function databaseTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return rows[0]!.now;
}

async function drillHistory(db: Queryable, drillClass: string): Promise<DrillRecord[]> {
  const { rows } = await db.query<DrillRecord>(
    `SELECT run_id AS "runId", drill, class, started_at AS "startedAt", ended_at AS "endedAt", verdict, reason, targets, summary
     FROM escapement.drill_run WHERE class = $1 AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 50`,
    [drillClass],
  );
  return rows;
}
