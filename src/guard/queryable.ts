/** What the guard asks of a database connection. */

/** A `pg` pool, client or pool client, or anything that looks like one. */
export interface Queryable {
  // biome-ignore lint/suspicious/noExplicitAny: rows are parsed where they come in
  query<Row extends Record<string, any>>(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}
