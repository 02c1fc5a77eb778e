/** What an executor must know to run a claimed shard, read once for each execution and run. */
import type { JobDefinition } from "../spec/job-definition.ts";
import type { Queryable } from "./database.ts";

export interface WorkOrder {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly executionId: string;
  readonly runNo: number;
  readonly triggerType: "schedule" | "misfire" | "manual";
  readonly periodKey: string | null;
  readonly shardCount: number;
  /** The definition the execution was planned with. */
  readonly definition: JobDefinition;
}

/** Work orders for the named executions; one that does not exist is left out. */
export async function readWorkOrders(
  db: Queryable,
  executions: readonly { jobId: number; fireTime: Date }[],
): Promise<WorkOrder[]> {
  if (executions.length === 0) return [];
  // LATERAL keeps it to one primary-key probe each, in the one partition that can hold the row.
  const { rows } = await db.query<WorkOrder>(
    `SELECT e.job_id AS "jobId", e.fire_time AS "fireTime", e.execution_id AS "executionId", e.run_no AS "runNo",
       e.trigger_type AS "triggerType", e.period_key AS "periodKey", e.shard_count AS "shardCount", v.definition
     FROM unnest($1::integer[], $2::timestamptz[]) AS w(job_id, fire_time)
     CROSS JOIN LATERAL (SELECT * FROM escapement.execution e WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time LIMIT 1) e
     JOIN escapement.job_version v ON v.job_id = e.job_id AND v.version = e.job_version`,
    [executions.map((e) => e.jobId), executions.map((e) => e.fireTime)],
  );
  return rows;
}
