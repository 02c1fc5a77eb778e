/**
 * A trial that leaves nothing behind: one DO statement that always ends in an
 * exception, with what it has found as the message. The server rolls the whole
 * statement back, so nobody can commit it by mistake, and it works through a
 * pooler, too.
 */
import { EscapementError, messageOf } from "../../base/errors.ts";
import { type Queryable, sqlState } from "../database.ts";
import { dedent } from "./look.ts";

/** SQLSTATE by which a trial hands over its result. */
const handedOver = "ES900";

export interface Trial<Found> {
  readonly what: string;
  readonly found: Found;
}

/**
 * @param declarations lines of a DECLARE section
 * @param body PL/pgSQL that fills the variable `found jsonb`
 * @throws what the body failed with, for example 42501 where the login may not try
 */
export async function undone<Found>(
  db: Queryable,
  declarations: string,
  body: string,
): Promise<Trial<Found>> {
  const what = dedent(`DO $trial$
DECLARE
  found jsonb := '{}';
${declarations}
BEGIN
${body}
  RAISE EXCEPTION USING ERRCODE = '${handedOver}', MESSAGE = found::text;
END $trial$`);
  try {
    await db.query(what);
  } catch (error) {
    if (sqlState(error) !== handedOver) throw error;
    return { what, found: JSON.parse(messageOf(error)) as Found };
  }
  throw new EscapementError("E_BUG", { what: "a trial was not rolled back" });
}
