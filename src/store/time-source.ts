/** What a host's time daemon says of itself, in the row of the process that has asked it. */
import type { Queryable } from "./database.ts";

/** @returns false when there is no such row. @throws what the store throws */
export async function noteTimeSource(
  db: Queryable,
  part: "scheduler" | "executor",
  incarnation: string,
  source: object,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE escapement.${part} SET time_source = $2::jsonb || jsonb_build_object('at', clock_timestamp()) WHERE incarnation = $1`,
    [incarnation, JSON.stringify(source)],
  );
  return rowCount === 1;
}
