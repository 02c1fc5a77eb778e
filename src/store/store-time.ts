/** The database's time, which decides; local clocks only measure durations. */
import { EscapementError } from "../base/errors.ts";
import type { Queryable } from "./database.ts";

/** The `now` column of a statement that must have returned a row. */
export function storeTime(rows: readonly { now: Date }[]): Date {
  const now = rows[0]?.now;
  if (!now) throw new EscapementError("E_BUG", { what: "a statement returned no time" });
  return now;
}

/** Asks the database what time it is. */
export async function readStoreTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  return storeTime(rows);
}
