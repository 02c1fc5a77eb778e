/**
 * Has somebody changed the schema by hand? Compares the catalog with the
 * manifest that a freshly migrated store has. Monthly partitions are left out:
 * their number depends on the calendar.
 */
import type { Queryable } from "./database.ts";
import manifest from "./schema-manifest.json" with { type: "json" };

export interface SchemaDrift {
  /** What the migrations make and the store does not have. */
  readonly missing: readonly string[];
  /** What the store has and no migration made. */
  readonly unexpected: readonly string[];
}

/** Lines of text that together describe the schema: columns, constraints, indexes, functions. */
export async function describeSchema(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `WITH tables AS (
       SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'escapement' AND c.relkind IN ('r', 'p') AND NOT c.relispartition)
     SELECT 'column ' || t.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
         || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') AS line
       FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
     UNION ALL
     SELECT 'constraint ' || t.relname || ' ' || pg_get_constraintdef(k.oid) || CASE WHEN k.convalidated THEN '' ELSE ' not valid' END
       FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype <> 'n'
     UNION ALL
     SELECT 'index ' || pg_get_indexdef(i.indexrelid) || CASE WHEN i.indisvalid THEN '' ELSE ' invalid' END
       FROM tables t JOIN pg_index i ON i.indrelid = t.oid
     UNION ALL
     SELECT 'function ' || p.oid::regprocedure || ' ' || md5(p.prosrc)
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'escapement'
     UNION ALL
     SELECT 'trigger ' || t.relname || ' ' || pg_get_triggerdef(g.oid) FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal`,
  );
  // Sorted here: the server's order depends on its collation.
  return rows.map((row) => row.line).sort();
}

/** What differs; both lists are empty when the schema is as the migrations made it. */
export async function schemaDrift(db: Queryable): Promise<SchemaDrift> {
  const found = new Set(await describeSchema(db));
  const expected = new Set<string>(manifest.lines);
  return {
    missing: (manifest.lines as string[]).filter((line) => !found.has(line)),
    unexpected: [...found].filter((line) => !expected.has(line)),
  };
}
