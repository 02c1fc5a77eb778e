/** What the records of backups show: the last good one of a kind, and whether a restore was counted. */
import type { BackupRow } from "../../store/checklist/backups.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { AgedFact, Evidence } from "../item.ts";
import { queryEvidence } from "./verdicts.ts";

/** The records of one kind, with the age of the last good one and what it counts as. */
export function backupEvidence(
  context: CheckContext,
  looked: Look<BackupRow>,
  kind: BackupRow["kind"],
  fact: AgedFact,
): Evidence {
  const rows = looked.rows.filter((row) => row.kind === kind);
  const good = lastGood(rows, kind);
  return { ...queryEvidence(context, looked, rows), ...(good && { ageMs: good.ageMs, fact }) };
}

export function lastGood(rows: readonly BackupRow[], kind: BackupRow["kind"]): BackupRow | undefined {
  return rows.find((row) => row.kind === kind && row.ok && (kind === "backup" || countedTables(row) > 0));
}

/** The last one went wrong after the last good one. */
export function failedSince(rows: readonly BackupRow[], kind: BackupRow["kind"]): BackupRow | undefined {
  const good = lastGood(rows, kind);
  const bad = rows.find((row) => row.kind === kind && !row.ok);
  return bad && (!good || bad.ageMs < good.ageMs) ? bad : undefined;
}

/** Tables whose rows were compared with the source; 0 where nothing was counted. */
export function countedTables({ checked }: BackupRow): number {
  const tables = (checked as { tables?: unknown } | null)?.tables;
  return typeof tables === "object" && tables !== null ? Object.keys(tables).length : 0;
}
