/** Statements of replaceWhole (see src/store/guard/replace.sql). */
import { z } from "zod";
import type { Queryable } from "./database.ts";
import { guardStep } from "./guard-error.ts";

const beginRow = z.object({ version: z.string(), load_into: z.string() });

export interface ReplaceTarget {
  readonly how: "version" | "partition" | "table";
  readonly table: string;
  readonly scope: Readonly<Record<string, unknown>>;
  readonly versionColumn: string | undefined;
}

/** Starts a new version. @throws E_REFUSED with what stands in the way */
export async function beginReplace(
  db: Queryable,
  target: ReplaceTarget,
): Promise<{ version: string; loadInto: string }> {
  return await guardStep(async () => {
    const answer = await db.query(
      "SELECT version, load_into FROM escapement_guard.replace_begin($1, $2, $3::jsonb, $4)",
      [target.how, target.table, JSON.stringify(target.scope), target.versionColumn ?? null],
    );
    const row = beginRow.parse(answer.rows[0]);
    return { version: row.version, loadInto: row.load_into };
  });
}

/** Adds rows to a version that is not live yet. @throws E_GUARD_STALE, E_REFUSED */
export async function loadRows(
  db: Queryable,
  version: string,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  await guardStep(() =>
    db.query("SELECT escapement_guard.replace_load($1, $2::jsonb)", [version, JSON.stringify(rows)]),
  );
}

/** Makes the version live. @throws E_GUARD_STALE, E_REFUSED when rows are missing */
export async function switchVersion(db: Queryable, version: string, rowCount: number): Promise<void> {
  await guardStep(() => db.query("SELECT escapement_guard.replace_switch($1, $2)", [version, rowCount]));
}

/** Removes what abandoned versions left behind. */
export async function cleanVersions(db: Queryable, version: string): Promise<void> {
  await guardStep(() => db.query("SELECT escapement_guard.replace_clean($1)", [version]));
}

/** Creates or replaces the view that shows live rows only. */
export async function createLiveView(
  db: Queryable,
  view: string,
  table: string,
  versionColumn: string,
  scopeColumns: readonly string[],
) {
  await guardStep(() =>
    db.query("SELECT escapement_guard.live_view($1, $2, $3, $4)", [view, table, versionColumn, scopeColumns]),
  );
}
