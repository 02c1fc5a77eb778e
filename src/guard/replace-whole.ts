/** `replaceWhole`: load a new version beside the old one, then switch in one transaction. */
import { beginReplace, cleanVersions, loadRows, switchVersion } from "../store/guard-replace.ts";
import type { Queryable } from "./queryable.ts";

export type ReplaceBy =
  /** Rows with a bigint version column; readers use the view of `liveView`. */
  | { readonly by: "version"; readonly table: string; readonly versionColumn: string }
  /** One partition of `table`; the scope is `{ partition: name }`. */
  | { readonly by: "partition"; readonly table: string }
  /** The whole table; the scope is `{}`. */
  | { readonly by: "table"; readonly table: string };

type Row = Readonly<Record<string, unknown>>;

export interface Replaced {
  readonly version: string;
  readonly rows: number;
}

/**
 * Replaces everything in `scope` by `rows`. Readers see the old rows, whole, until they see the new ones, whole.
 * Killed anywhere: the old ones stay, and the next run cleans up.
 * @param rows all with the same fields; scope and version columns are filled in.
 * @param batchRows rows sent in one statement.
 * @throws E_GUARD_STALE a run that began later is live, E_REFUSED what stands in the way
 */
export async function replaceWhole(
  db: Queryable,
  target: ReplaceBy,
  scope: Row,
  rows: Iterable<Row> | AsyncIterable<Row>,
  batchRows = 1_000,
): Promise<Replaced> {
  const { version } = await beginReplace(db, {
    how: target.by,
    table: target.table,
    scope,
    versionColumn: target.by === "version" ? target.versionColumn : undefined,
  });
  let sent = 0;
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < batchRows) continue;
    await loadRows(db, version, batch);
    sent += batch.length;
    batch = [];
  }
  if (batch.length > 0) await loadRows(db, version, batch);
  sent += batch.length;
  await switchVersion(db, version, sent);
  // The new version is live; what is left over is swept by the next run if this fails.
  await cleanVersions(db, version).catch(() => {});
  return { version, rows: sent };
}
