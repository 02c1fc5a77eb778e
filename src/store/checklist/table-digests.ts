/** The whole content of a scratch database, table by table, as digests that can be compared. */
import type { Queryable } from "../database.ts";

export interface TableDigest {
  readonly rows: number;
  readonly md5: string;
}

/**
 * Every table of every schema but the server's own and those of the toolkit,
 * whose rows are about attempts and change with each.
 * @param ignored `schema.table.column` or `table.column`: stamps of the last write
 */
export async function digestTables(
  db: Queryable,
  ignored: readonly string[] = [],
): Promise<Record<string, TableDigest>> {
  const { rows: tables } = await db.query<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'escapement', 'escapement_guard')
       AND n.nspname !~ '^pg_(toast|temp)' ORDER BY 1, 2`,
  );
  const found: Record<string, TableDigest> = {};
  for (const { schema, name } of tables) {
    const table = schema === "public" ? name : `${schema}.${name}`;
    const columns = ignored
      .map(splitColumn)
      .filter((one) => one.table === table || one.table === `${schema}.${name}`)
      .map(({ column }) => column);
    const { rows } = await db.query<TableDigest>(
      `SELECT count(*) AS rows, md5(coalesce(string_agg(r.line, '' ORDER BY r.line), '')) AS md5
       FROM (SELECT md5((to_jsonb(t) - $1::text[])::text) AS line FROM ${quoted(schema)}.${quoted(name)} t) r`,
      [columns],
    );
    found[table] = rows[0]!;
  }
  return found;
}

/**
 * Those of `paths` that are columns here. `isTime`: a date, a time or a timestamp.
 * @param paths `schema.table.column` or `table.column`, of public tables
 */
export async function findColumns(
  db: Queryable,
  paths: readonly string[],
): Promise<ReadonlyMap<string, { readonly isTime: boolean }>> {
  const { rows } = await db.query<{ path: string; isTime: boolean }>(
    `SELECT p.path, t.typcategory = 'D' AS "isTime"
     FROM unnest($1::text[]) AS p(path), pg_attribute a
     JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
       AND (p.path = n.nspname || '.' || c.relname || '.' || a.attname
            OR n.nspname = 'public' AND p.path = c.relname || '.' || a.attname)`,
    [paths],
  );
  return new Map(rows.map(({ path, isTime }) => [path, { isTime }]));
}

function splitColumn(path: string): { readonly table: string; readonly column: string } {
  const at = path.lastIndexOf(".");
  return { table: path.slice(0, at), column: path.slice(at + 1) };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
