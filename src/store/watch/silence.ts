/** Silences made by command; they end by themselves, or when somebody ends them. */
import { z } from "zod";
import type { Queryable } from "../database.ts";

const list = z.array(z.string()).min(1).optional();
const matchColumn = z.strictObject({
  severity: z
    .array(z.enum(["info", "warning", "critical"]))
    .min(1)
    .optional(),
  rule: list,
  job: list,
  key: list,
});

export interface SilenceRow {
  readonly silenceId: number;
  readonly match: z.infer<typeof matchColumn>;
  readonly until: Date;
  readonly reason: string;
  readonly by: string;
  readonly createdAt: Date;
}

/** Those in force. A row that cannot be read silences nothing. */
export async function activeSilences(db: Queryable, now?: Date): Promise<SilenceRow[]> {
  const { rows } = await db.query(
    `SELECT silence_id AS "silenceId", match, until, reason, person AS by, created_at AS "createdAt" FROM escapement.silence
     WHERE ended_at IS NULL AND until > coalesce($1, clock_timestamp()) ORDER BY silence_id`,
    [now ?? null],
  );
  return rows.flatMap((row) => {
    const match = matchColumn.safeParse(row.match);
    return match.success ? [{ ...(row as SilenceRow), match: match.data }] : [];
  });
}

export async function addSilence(
  db: Queryable,
  silence: Pick<SilenceRow, "match" | "until" | "reason" | "by">,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    "INSERT INTO escapement.silence (match, until, reason, person) VALUES ($1, $2, $3, $4) RETURNING silence_id AS id",
    [JSON.stringify(silence.match), silence.until, silence.reason, silence.by],
  );
  return rows[0]!.id;
}

/** Ends a silence before its time. @returns false when there is none in force */
export async function endSilence(db: Queryable, silenceId: number): Promise<boolean> {
  const { rowCount } = await db.query(
    "UPDATE escapement.silence SET ended_at = clock_timestamp() WHERE silence_id = $1 AND ended_at IS NULL AND until > clock_timestamp()",
    [silenceId],
  );
  return rowCount === 1;
}
