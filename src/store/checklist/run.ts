/** Recorded runs of the checklist: what later runs are held against. */
import { z } from "zod";
import type { Queryable } from "../database.ts";

const verdict = z.enum(["pass", "fail", "unknown", "not-applicable", "waived"]);
const scope = z.object({ kind: z.enum(["cluster", "host", "job"]), name: z.string() });

const item = z.object({
  number: z.int(),
  verdict,
  message: z.string(),
  open: z.array(z.object({ scope, verdict })),
  passed: z.int(),
});

type RecordedScope = Readonly<z.output<typeof scope>>;
type RecordedVerdict = z.output<typeof verdict>;

/** One item of a recorded run: its verdict, one sentence, and the scopes that did not pass. */
export interface RecordedItem {
  readonly number: number;
  readonly verdict: RecordedVerdict;
  readonly message: string;
  readonly open: readonly { readonly scope: RecordedScope; readonly verdict: RecordedVerdict }[];
  readonly passed: number;
}

export interface ChecklistRunRow {
  readonly runId: string;
  readonly person: string;
  readonly version: string;
  readonly commitId: string | null;
  readonly definitionsDigest: string;
  readonly outcome: "pass" | "fail" | "unknown";
  readonly items: readonly RecordedItem[];
}

/** Written once, at the end of a run. Recording the same run again changes nothing. */
export async function recordChecklistRun(db: Queryable, run: ChecklistRunRow): Promise<void> {
  await db.query(
    `INSERT INTO escapement.checklist_run (run_id, person, version, commit_id, definitions_digest, outcome, items)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (run_id) DO NOTHING`,
    [
      run.runId,
      run.person,
      run.version,
      run.commitId,
      run.definitionsDigest,
      run.outcome,
      JSON.stringify(run.items),
    ],
  );
}

/** The newest recorded run, or null. A row of a later version that cannot be read counts as none. */
export async function latestChecklistRun(
  db: Queryable,
): Promise<(Pick<ChecklistRunRow, "runId" | "commitId" | "items"> & { readonly at: Date }) | null> {
  const { rows } = await db.query<{ runId: string; at: Date; commitId: string | null; items: unknown }>(
    `SELECT run_id AS "runId", at, commit_id AS "commitId", items FROM escapement.checklist_run ORDER BY at DESC LIMIT 1`,
  );
  const [row] = rows;
  if (!row) return null;
  const items = z.array(item).safeParse(row.items);
  return items.success ? { ...row, items: items.data } : null;
}
