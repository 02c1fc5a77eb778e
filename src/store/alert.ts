/** The outbox of alerts: written here, delivered by the watchman. One row a cause, counted when it repeats. */
import type { Queryable } from "./database.ts";

export interface Alert {
  /** The same cause has the same key; a repeat raises `count`. */
  readonly dedupKey: string;
  readonly kind: string;
  readonly severity: "info" | "warning" | "critical";
  readonly jobId?: number;
  readonly fireTime?: Date;
  readonly message: string;
  readonly details?: unknown;
}

export async function raiseAlert(db: Queryable, alert: Alert): Promise<void> {
  await db.query("SELECT escapement.raise_alert($1, $2, $3, $4, $5, $6, $7)", [
    alert.dedupKey,
    alert.kind,
    alert.severity,
    alert.jobId ?? null,
    alert.fireTime ?? null,
    alert.message,
    alert.details === undefined ? null : JSON.stringify(alert.details),
  ]);
}

export interface AlertRow extends Omit<Alert, "jobId" | "fireTime"> {
  readonly jobId: number | null;
  readonly fireTime: Date | null;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** The latest alerts, newest first. */
export async function listAlerts(
  db: Queryable,
  options: { since?: Date; limit?: number } = {},
): Promise<AlertRow[]> {
  const { rows } = await db.query<AlertRow>(
    `SELECT dedup_key AS "dedupKey", kind, severity, job_id AS "jobId", fire_time AS "fireTime", message, details, count,
       first_at AS "firstAt", last_at AS "lastAt"
     FROM escapement.alert_outbox WHERE last_at >= coalesce($1::timestamptz, '-infinity') ORDER BY last_at DESC LIMIT $2`,
    [options.since ?? null, options.limit ?? 50],
  );
  return rows;
}
