/** Which executions the ids in a job's table belong to. */
import type { Queryable } from "../database.ts";
import type { ExecutionStatus } from "../execution.ts";

export interface WrittenBy {
  readonly executionId: string;
  /** `namespace/name`. */
  readonly job: string;
  readonly fireTime: Date;
  readonly trigger: string;
  readonly status: ExecutionStatus;
}

/** Ids that are none, and ids of executions whose records were dropped, are left out. */
export async function findExecutionsById(db: Queryable, ids: readonly string[]): Promise<WrittenBy[]> {
  const uuids = ids.filter((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id));
  if (uuids.length === 0) return [];
  const { rows } = await db.query<WrittenBy>(
    `SELECT e.execution_id AS "executionId", j.namespace || '/' || j.name AS job, e.fire_time AS "fireTime",
       e.trigger_type AS trigger, e.status
     FROM escapement.execution e JOIN escapement.job j ON j.job_id = e.job_id
     WHERE e.execution_id = ANY ($1::uuid[]) ORDER BY e.fire_time, job`,
    [uuids],
  );
  return rows;
}
