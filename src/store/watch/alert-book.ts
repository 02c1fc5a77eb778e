/** The alerts that the watchman keeps, read and written as a whole. */
import type { Queryable } from "../database.ts";

/** A row of the outbox with all that the watchman knows about it. */
export interface BookRow {
  readonly key: string;
  readonly rule: string;
  readonly severity: "info" | "warning" | "critical";
  readonly jobId: number | null;
  readonly job: string | null;
  readonly fireTime: Date | null;
  readonly message: string;
  readonly evidence: Record<string, unknown> | null;
  readonly cause: string | null;
  readonly hint: string | null;
  /** False: noted by another process. */
  readonly watched: boolean;
  readonly episode: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly opened: Date | null;
  readonly resolved: Date | null;
  readonly acknowledged: Date | null;
  readonly acknowledgedBy: string | null;
  readonly escalated: Date | null;
  readonly told: Date | null;
  readonly toldSeverity: "info" | "warning" | "critical" | null;
  readonly quiet: string | null;
  readonly channels: readonly string[];
  /** How often others have noted it. */
  readonly count: number;
}

const columns = `a.dedup_key AS key, a.kind AS rule, a.severity, a.job_id AS "jobId",
  coalesce(a.job, (SELECT j.namespace || '/' || j.name FROM escapement.job j WHERE j.job_id = a.job_id)) AS job,
  a.fire_time AS "fireTime", a.message, a.details AS evidence, a.cause, a.hint, a.watched, a.episode,
  a.first_at AS "firstSeen", a.last_at AS "lastSeen", a.opened_at AS opened, a.resolved_at AS resolved,
  a.acknowledged_at AS acknowledged, a.acknowledged_by AS "acknowledgedBy", a.escalated_at AS escalated, a.told_at AS told,
  a.told_severity AS "toldSeverity", a.quiet, a.channels, a.count`;

/**
 * Every alert that is not resolved, those of the given keys, and what others have noted since.
 * @param notedSince what was noted before this is history
 */
export async function readBook(db: Queryable, keys: readonly string[], notedSince: Date): Promise<BookRow[]> {
  const { rows } = await db.query<BookRow>(
    `SELECT ${columns} FROM escapement.alert_outbox a
     WHERE (a.resolved_at IS NULL AND (a.watched OR a.opened_at IS NOT NULL OR a.last_at > $2)) OR a.dedup_key = ANY ($1)
       OR (NOT a.watched AND a.last_at > $2 AND a.last_at > a.resolved_at)`,
    [keys, notedSince],
  );
  return rows;
}

/** The open alerts, worst first; with `all` also the ended ones, newest first. */
export async function listBook(
  db: Queryable,
  options: { all?: boolean; limit?: number } = {},
): Promise<BookRow[]> {
  const { rows } = await db.query<BookRow>(
    `SELECT ${columns} FROM escapement.alert_outbox a
     WHERE $1 OR (a.resolved_at IS NULL AND (a.opened_at IS NOT NULL OR a.last_at > clock_timestamp() - interval '1 day'))
     ORDER BY (a.resolved_at IS NULL) DESC,
       CASE WHEN a.resolved_at IS NULL THEN array_position(ARRAY['critical', 'warning', 'info'], a.severity) END, a.last_at DESC LIMIT $2`,
    [options.all ?? false, options.limit ?? 200],
  );
  return rows;
}

/**
 * Writes alerts as they are now. A row from after `now` was written before the
 * database's clock went back: what is written now is newer. What others count (`count`, and acknowledgements by people) is left alone.
 */
export async function writeBook(
  db: Queryable,
  alerts: readonly Omit<BookRow, "count" | "acknowledgedBy">[],
  now: Date,
): Promise<void> {
  if (alerts.length === 0) return;
  await db.query(
    `INSERT INTO escapement.alert_outbox AS o (dedup_key, kind, severity, job_id, job, fire_time, message, details, cause, hint,
       watched, episode, first_at, last_at, opened_at, resolved_at, escalated_at, told_at, told_severity, quiet, channels)
     SELECT a ->> 'key', a ->> 'rule', a ->> 'severity', (a ->> 'jobId')::int, a ->> 'job', (a ->> 'fireTime')::timestamptz,
       a ->> 'message', a -> 'evidence', a ->> 'cause', a ->> 'hint', (a ->> 'watched')::boolean, (a ->> 'episode')::int,
       (a ->> 'firstSeen')::timestamptz, (a ->> 'lastSeen')::timestamptz, (a ->> 'opened')::timestamptz,
       (a ->> 'resolved')::timestamptz, (a ->> 'escalated')::timestamptz, (a ->> 'told')::timestamptz, a ->> 'toldSeverity',
       a ->> 'quiet', ARRAY (SELECT jsonb_array_elements_text(a -> 'channels'))
     FROM jsonb_array_elements($1::jsonb) a
     ON CONFLICT (dedup_key) DO UPDATE SET kind = excluded.kind, severity = excluded.severity, message = excluded.message,
       job = coalesce(excluded.job, o.job), details = CASE WHEN o.watched OR excluded.watched THEN excluded.details ELSE o.details END,
       cause = excluded.cause, hint = excluded.hint, watched = excluded.watched,
       -- What another process notes keeps its own time.
       last_at = CASE WHEN excluded.watched THEN excluded.last_at ELSE o.last_at END, first_at = excluded.first_at,
       opened_at = excluded.opened_at, resolved_at = excluded.resolved_at, escalated_at = excluded.escalated_at,
       told_at = excluded.told_at, told_severity = excluded.told_severity, quiet = excluded.quiet, channels = excluded.channels,
       acknowledged_at = CASE WHEN excluded.first_at > o.first_at OR (o.first_at > $2 AND excluded.first_at <> o.first_at) THEN NULL ELSE o.acknowledged_at END,
       acknowledged_by = CASE WHEN excluded.first_at > o.first_at OR (o.first_at > $2 AND excluded.first_at <> o.first_at) THEN NULL ELSE o.acknowledged_by END,
       episode = CASE WHEN excluded.first_at > o.first_at OR (o.first_at > $2 AND excluded.first_at <> o.first_at) THEN greatest(excluded.episode, o.episode + 1) ELSE o.episode END
     -- From a spool may come what is older than what is known.
     WHERE excluded.first_at >= o.first_at OR o.first_at > $2`,
    [JSON.stringify(alerts), now],
  );
}

/** Takes away what was gone before it alerted. */
export async function forgetPending(db: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await db.query(
    "DELETE FROM escapement.alert_outbox WHERE dedup_key = ANY ($1) AND watched AND opened_at IS NULL AND episode = 1",
    [keys],
  );
  // One that had an earlier episode goes back to its end.
  await db.query(
    `UPDATE escapement.alert_outbox SET resolved_at = last_at WHERE dedup_key = ANY ($1) AND watched AND opened_at IS NULL AND resolved_at IS NULL`,
    [keys],
  );
}

/** Somebody has seen it: it is not escalated. @returns false when no open alert has this key */
export async function acknowledge(db: Queryable, key: string, person: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE escapement.alert_outbox SET acknowledged_at = coalesce(acknowledged_at, clock_timestamp()),
       acknowledged_by = coalesce(acknowledged_by, $2) WHERE dedup_key = $1 AND resolved_at IS NULL`,
    [key, person],
  );
  return rowCount === 1;
}
