/** What the record store says of a torture cluster, in the terms of a history. */
import { parseInstant } from "../../src/base/instant.ts";
import type { AttemptRecord, ExecutionRecord } from "../../src/chaos/history.ts";
import type { Queryable } from "../../src/store/database.ts";
import type { JobLife } from "./torture-jobs.ts";

export interface Records {
  readonly readAt: Date;
  readonly lives: readonly JobLife[];
  readonly executions: readonly ExecutionRecord[];
  readonly attempts: readonly AttemptRecord[];
  /** Writes that the store's fence refused, by what they wanted to write. */
  readonly staleWrites: Readonly<Record<string, number>>;
}

const iso = (date: Date | null): string | null => (date === null ? null : date.toISOString());

/** Outcomes of attempts that did not succeed, in the words of a history. */
const attemptStatus: Record<string, AttemptRecord["status"]> = {
  failed: "failed",
  retry: "failed",
  "lease-expired": "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
  success: "success",
  running: "running",
};

export async function readRecords(db: Queryable): Promise<Records> {
  const jobs = await db.query<{ job: string; knownSince: Date; stateSince: Date }>(
    `SELECT namespace || '/' || name AS job, known_since AS "knownSince", state_since AS "stateSince" FROM escapement.job ORDER BY name`,
  );
  const executions = await db.query<{
    job: string;
    fireTime: Date;
    status: ExecutionRecord["status"];
    trigger: ExecutionRecord["trigger"];
    reason: string | null;
  }>(
    `SELECT j.namespace || '/' || j.name AS job, e.fire_time AS "fireTime", e.status, e.trigger_type AS trigger, e.reason
     FROM escapement.execution e JOIN escapement.job j USING (job_id)`,
  );
  // Attempts that ended otherwise, the one that succeeded, and those that still run.
  const attempts = await db.query<{
    job: string;
    fireTime: Date;
    shardNo: number;
    attempt: number;
    owner: string | null;
    fenceToken: number;
    startedAt: Date | null;
    endedAt: Date | null;
    status: string;
  }>(
    `SELECT j.namespace || '/' || j.name AS job, a.fire_time AS "fireTime", a.shard_no AS "shardNo", a.attempt, a.owner, a.fence_token AS "fenceToken",
       a.start_time AS "startedAt", a.end_time AS "endedAt", a.outcome AS status
     FROM (SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, end_time, outcome FROM escapement.shard_attempt
           WHERE fence_token IS NOT NULL
           UNION ALL
           SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, end_time, status FROM escapement.shard
           WHERE status = 'success'
           UNION ALL
           SELECT job_id, fire_time, shard_no, attempt, owner, fence_token, start_time, NULL, 'running' FROM escapement.shard_live
           WHERE owner IS NOT NULL) a
     JOIN escapement.job j USING (job_id)`,
  );
  const stale = await db.query<{ what: string; count: number }>(
    "SELECT what, count(*) AS count FROM escapement.stale_write GROUP BY what ORDER BY what",
  );
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return {
    readAt: rows[0]?.now ?? parseInstant("1970-01-01T00:00:00Z"),
    lives: jobs.rows.map(({ job, knownSince, stateSince }) => ({ job, knownSince, pausedAt: stateSince })),
    executions: executions.rows.map(({ fireTime, reason, ...row }) => ({
      ...row,
      fireTime: iso(fireTime)!,
      ...(reason === null ? {} : { reason }),
    })),
    attempts: attempts.rows.map((row) => ({
      ...row,
      fireTime: iso(row.fireTime)!,
      owner: row.owner ?? "",
      startedAt: iso(row.startedAt),
      endedAt: iso(row.endedAt),
      status: attemptStatus[row.status] ?? "failed",
    })),
    staleWrites: Object.fromEntries(stale.rows.map(({ what, count }) => [what, count])),
  };
}
