/** The tables of a migrated record store, read from the system catalogue. */
import { EscapementError } from "../../../base/errors.ts";
import { type RecordShapes, type RecordTable, recordTables } from "../../../capacity/storage/record-shape.ts";
import type { TableShape } from "../../../capacity/storage/tuple.ts";
import type { Queryable } from "../../../store/database.ts";

interface TableRow {
  readonly name: RecordTable;
  readonly fillFactor: number;
  readonly columns: readonly { name: string; length: number; alignment: number }[];
  readonly indexes: readonly {
    name: string;
    columns: string[];
    isUnique: boolean;
    isPartial: boolean;
    fillFactor: number;
  }[];
}

/** @throws E_BAD_DATA when a table is missing */
export async function readShapes(db: Queryable): Promise<RecordShapes> {
  const { rows } = await db.query<TableRow>(
    `SELECT c.relname AS name,
       coalesce((SELECT option_value::integer FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'), 100) AS "fillFactor",
       (SELECT json_agg(json_build_object('name', a.attname, 'length', a.attlen,
          'alignment', CASE a.attalign WHEN 'c' THEN 1 WHEN 's' THEN 2 WHEN 'i' THEN 4 ELSE 8 END) ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
       (SELECT json_agg(json_build_object('name', i.relname, 'isUnique', x.indisunique, 'isPartial', x.indpred IS NOT NULL,
          'fillFactor', coalesce((SELECT option_value::integer FROM pg_options_to_table(i.reloptions) WHERE option_name = 'fillfactor'), 90),
          'columns', (SELECT json_agg(a.attname ORDER BY k.place) FROM unnest(x.indkey) WITH ORDINALITY k(number, place)
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number)) ORDER BY i.relname)
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = c.oid) AS indexes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'escapement' AND c.relname = ANY ($1)`,
    [recordTables],
  );
  const shapes: Partial<Record<RecordTable, TableShape>> = {};
  for (const row of rows) shapes[row.name] = { ...row, indexes: row.indexes ?? [] };
  const missing = recordTables.filter((name) => !shapes[name]);
  if (missing.length > 0) {
    throw new EscapementError("E_BAD_DATA", {
      what: `the record store has no table ${missing.join(", ")}`,
      hint: "run escapement store migrate with this version",
    });
  }
  return shapes as RecordShapes;
}
