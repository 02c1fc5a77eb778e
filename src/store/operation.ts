/** What people did by hand: who, what, why, before and after. Append-only. */
import type { Queryable } from "./database.ts";

export interface Deed {
  /** Who did it. */
  readonly person: string;
  readonly reason: string;
}

export interface Operation extends Deed {
  readonly action: string;
  readonly jobId?: number;
  readonly fireTime?: Date;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Records an operation; belongs into the transaction of what it records. */
export async function recordOperation(tx: Queryable, operation: Operation): Promise<void> {
  await tx.query(
    `INSERT INTO escapement.operation (person, action, job_id, fire_time, reason, before, after) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      operation.person,
      operation.action,
      operation.jobId ?? null,
      operation.fireTime ?? null,
      operation.reason,
      operation.before === undefined ? null : JSON.stringify(operation.before),
      operation.after === undefined ? null : JSON.stringify(operation.after),
    ],
  );
}

export interface OperationRow extends Deed {
  readonly at: Date;
  readonly action: string;
  readonly fireTime: Date | null;
}

/** The latest operations on one job, newest first. */
export async function operationsOf(db: Queryable, jobId: number, limit = 20): Promise<OperationRow[]> {
  const { rows } = await db.query<OperationRow>(
    `SELECT at, person, action, reason, fire_time AS "fireTime" FROM escapement.operation WHERE job_id = $1 ORDER BY at DESC LIMIT $2`,
    [jobId, limit],
  );
  return rows;
}
