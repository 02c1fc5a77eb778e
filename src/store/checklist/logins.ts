/** The logins that are in use, and the limits that their sessions carry. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";

export type Part = "scheduler" | "executor" | "watchman";

export interface LoginSetting {
  readonly part: Part;
  readonly login: string;
  readonly sessions: number;
  readonly setting: string;
  /** Of the login, or of the login in this database, or of the database: what sessions start with. Null: none of them. */
  readonly own: string | null;
  /** The server's, in `unit`; null where this session has its own and so cannot see it. */
  readonly server: string | null;
  readonly unit: string | null;
}

/**
 * Sessions are told apart by the names that the daemons give them; those are
 * visible to every login, even where the statements are not.
 */
export function readLoginSettings(db: Queryable, settings: readonly string[]): Promise<Look<LoginSetting>> {
  return look<LoginSetting>(
    db,
    `WITH used AS (
       SELECT substring(application_name FROM '^escapement-(scheduler|executor|watchman)') AS part, usesysid, count(*) AS sessions
       FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^escapement-(scheduler|executor|watchman)'
       GROUP BY 1, 2)
     SELECT u.part, pg_get_userbyid(u.usesysid) AS login, u.sessions, w.name AS setting,
       (SELECT substr(c, strpos(c, '=') + 1)
        FROM pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) c
        WHERE s.setrole IN (0, u.usesysid) AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
          AND split_part(c, '=', 1) = w.name
        ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1) AS own,
       CASE WHEN p.source NOT IN ('user', 'database user', 'database', 'client', 'session', 'override') THEN p.setting END AS server, p.unit
     FROM used u CROSS JOIN unnest($1::text[]) AS w(name) LEFT JOIN pg_settings p ON p.name = w.name
     ORDER BY 1, 2, 4`,
    [settings],
  );
}

export interface LivingParts {
  readonly schedulers: number;
  readonly executors: number;
}

/** How many processes of each kind live by the records. */
export function readLivingParts(db: Queryable, silentMs: number): Promise<Look<LivingParts>> {
  return look<LivingParts>(
    db,
    `SELECT (SELECT count(*) FROM escapement.scheduler
             WHERE role <> 'stopped' AND last_seen > clock_timestamp() - make_interval(secs => $1 / 1000.0)) AS schedulers,
       (SELECT count(*) FROM escapement.executor WHERE state IN ('active', 'draining') AND lease_until > clock_timestamp()) AS executors`,
    [silentMs],
  );
}
