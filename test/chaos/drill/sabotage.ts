/** Takes a protection away from a cluster of a test, and gives it back. */
import type { Queryable } from "../../../src/store/database.ts";

/**
 * Changes the text of functions of the record store.
 * @param patches by name; each gets the text of CREATE OR REPLACE FUNCTION and must change it
 * @returns what puts them back
 */
export async function patchFunctions(
  db: Queryable,
  patches: Readonly<Record<string, (text: string) => string>>,
): Promise<() => Promise<void>> {
  const before: string[] = [];
  for (const [name, patch] of Object.entries(patches)) {
    const { rows } = await db.query<{ text: string }>(
      "SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'escapement' AND p.proname = $1",
      [name],
    );
    if (rows.length !== 1) throw new Error(`${rows.length} functions ${name}`);
    const text = rows[0]!.text;
    const changed = patch(text);
    if (changed === text) throw new Error(`${name} is as it was`);
    before.push(text);
    await db.query(changed);
  }
  return async () => {
    for (const text of before) await db.query(text);
  };
}

/** Replaces every occurrence; there must be one. */
export function swap(from: string | RegExp, to: string): (text: string) => string {
  return (text) => text.replaceAll(typeof from === "string" ? from : new RegExp(from, "g"), to);
}

/** The body does nothing and answers null. */
export function answerNull(text: string): string {
  return `${text.slice(0, text.indexOf("AS $function$"))}AS $function$ BEGIN RETURN NULL; END $function$`;
}
