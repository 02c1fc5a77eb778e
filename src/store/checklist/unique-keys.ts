/** The unique constraints that keep a fire from being done twice: as the catalog has them, and as an insert meets them. */
import type { Queryable } from "../database.ts";
import { type Look, look } from "./look.ts";
import { type Trial, undone } from "./undone.ts";

/** What must be unique, by table; the same holds for every partition of it. */
export const uniqueKeys: Readonly<Record<string, readonly string[]>> = {
  // job_id stands for the job's name.
  job: ["namespace", "name"],
  execution: ["job_id", "fire_time"],
  execution_live: ["job_id", "fire_time"],
  shard: ["job_id", "fire_time", "shard_no"],
  shard_live: ["job_id", "fire_time", "shard_no"],
  job_period: ["job_id", "period_key"],
};

export interface IndexRow {
  /** The table, or the one that this is a partition of. */
  readonly table: string;
  readonly relation: string;
  /** Null: this relation has no index at all. */
  readonly index: string | null;
  readonly columns: readonly string[];
  readonly unique: boolean | null;
  readonly valid: boolean | null;
  readonly ready: boolean | null;
  readonly live: boolean | null;
  /** False: the constraint is deferrable, a duplicate is noticed at commit only. */
  readonly immediate: boolean | null;
  readonly partial: boolean | null;
  readonly notNull: boolean | null;
}

/** Every index of the tables above and of their partitions, one row each. */
export function readKeyIndexes(db: Queryable): Promise<Look<IndexRow>> {
  return look<IndexRow>(
    db,
    `WITH kept AS (
       SELECT c.oid, c.relname AS relation, coalesce(p.relname, c.relname) AS parent
       FROM pg_class c
       LEFT JOIN pg_inherits h ON h.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = h.inhparent
       WHERE c.relnamespace = 'escapement'::regnamespace AND c.relkind IN ('r', 'p')
         AND coalesce(p.relname, c.relname) = ANY ($1))
     SELECT k.parent AS "table", k.relation, x.relname AS index, i.indisunique AS "unique", i.indisvalid AS valid,
       i.indisready AS ready, i.indislive AS live, i.indimmediate AS immediate, i.indpred IS NOT NULL AS partial,
       ARRAY(SELECT coalesce(a.attname, '(expression)') FROM generate_series(0, i.indnkeyatts - 1) n
             LEFT JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = i.indkey[n] AND a.attnum > 0 ORDER BY n)::text[] AS columns,
       (SELECT bool_and(coalesce(a.attnotnull, false)) FROM generate_series(0, i.indnkeyatts - 1) n
        LEFT JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = i.indkey[n] AND a.attnum > 0) AS "notNull"
     FROM kept k LEFT JOIN pg_index i ON i.indrelid = k.oid LEFT JOIN pg_class x ON x.oid = i.indexrelid
     ORDER BY k.relation, x.relname`,
    [Object.keys(uniqueKeys)],
  );
}

export interface DuplicateTrial {
  /** Relations that took the same row twice. */
  readonly accepted: readonly string[];
  /** Relations that refused it. */
  readonly refused: readonly string[];
}

/** Writes the same row twice into every partition and live table, and undoes it. */
export function tryDuplicates(db: Queryable): Promise<Trial<DuplicateTrial>> {
  return undone<DuplicateTrial>(db, "try_duplicates");
}
