/**
 * Trials that leave nothing behind: functions of the schema that do what must be
 * refused, undo it before they return, and say what they saw. One statement, so
 * nobody can commit half of it, and it works through a pooler, too.
 */
import { EscapementError } from "../../base/errors.ts";
import type { Queryable } from "../database.ts";
import { readFunctions } from "./functions.ts";

export interface Trial<Found> {
  /** The call, and the text of the function behind it. */
  readonly what: string;
  readonly found: Found;
}

export type TrialName = "try_duplicates" | "try_stranger" | "try_catch_up_cap" | "try_lease";

/**
 * @param numbers the arguments of the function
 * @throws E_UNAVAILABLE when the function is not the one of the migrations: its answer would prove nothing;
 *   what the store throws, for example 42501 where the login may not try
 */
export async function undone<Found>(
  db: Queryable,
  name: TrialName,
  numbers: readonly number[] = [],
): Promise<Trial<Found>> {
  const [own] = (await readFunctions(db, [name])).rows;
  if (!own?.asMigrated)
    throw new EscapementError("E_UNAVAILABLE", {
      what: `the function ${name} is ${own ? "not as the migrations made it" : "not there"}`,
      hint: "escapement store status shows what differs",
    });
  const call = `SELECT escapement.${name}(${numbers.map((_, i) => `$${i + 1}`).join(", ")}) AS found`;
  const { rows } = await db.query<{ found: Found }>(call, [...numbers]);
  const written = numbers.reduce((text, number, i) => text.replace(`$${i + 1}`, String(number)), call);
  return { what: `${written};\n-- ${own.source.trim().replaceAll("\n", "\n-- ")}`, found: rows[0]!.found };
}
