/** The functions that decide, as they stand in the store, against those that the migrations made. */
import type { Queryable } from "../database.ts";
import manifest from "../schema-manifest.json" with { type: "json" };
import { type Look, look } from "./look.ts";

export interface FunctionRow {
  /** Without the schema. */
  readonly name: string;
  readonly signature: string;
  readonly md5: string;
  readonly source: string;
  /** True when the source is the one that the migrations made. */
  readonly asMigrated: boolean;
}

/** @param names without the schema; a function that is not there has no row */
export async function readFunctions(db: Queryable, names: readonly string[]): Promise<Look<FunctionRow>> {
  const looked = await look<Omit<FunctionRow, "asMigrated">>(
    db,
    `SELECT p.proname AS name, p.oid::regprocedure::text AS signature, md5(p.prosrc) AS md5, pg_get_functiondef(p.oid) AS source
     FROM pg_proc p WHERE p.pronamespace = 'escapement'::regnamespace AND p.proname = ANY ($1) ORDER BY 1, 2`,
    [names],
  );
  const known = new Set<string>(manifest.lines);
  return {
    what: looked.what,
    rows: looked.rows.map((row) => ({
      ...row,
      asMigrated: known.has(`function ${row.signature} ${row.md5}`),
    })),
  };
}
