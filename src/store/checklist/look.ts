/** A question to the store that keeps its own text, so that whoever reads the answer can ask again. */
import type { Queryable } from "../database.ts";

export interface Look<Row> {
  /** The statement, with its parameters behind it. */
  readonly what: string;
  readonly rows: readonly Row[];
}

/** Asks, and keeps the text of the question beside the answer. @throws what the store throws */
// biome-ignore lint/suspicious/noExplicitAny: rows are described by the caller
export async function look<Row extends Record<string, any>>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Look<Row>> {
  const { rows } = await db.query<Row>(text, [...values]);
  const parameters = values.map((value, i) => `\n-- $${i + 1} = ${asText(value)}`).join("");
  return { what: dedent(text) + parameters, rows };
}

/** The same of a question that has its text elsewhere. @throws what the store throws */
export async function overheard<T>(
  db: Queryable,
  ask: (db: Queryable) => Promise<T>,
): Promise<{ readonly what: string; readonly found: T }> {
  const asked: string[] = [];
  const found = await ask({
    async query(text, values) {
      const looked = await look(db, text, values);
      asked.push(looked.what);
      return { rows: looked.rows as never[], rowCount: looked.rows.length };
    },
  });
  return { what: asked.join("\n"), found };
}

function asText(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Statements stand indented in the source; evidence need not. */
export function dedent(text: string): string {
  const lines = text.split("\n");
  const indents = lines.slice(1).flatMap((line) => (line.trim() === "" ? [] : [line.search(/\S/)]));
  const least = Math.min(...indents);
  return [lines[0]!, ...lines.slice(1).map((line) => line.slice(Math.min(least, line.length)))]
    .join("\n")
    .trim();
}
