/** A transaction that goes on after a statement that failed. */
import type { Queryable } from "../../src/store/database.ts";

/** A statement that fails, as trials do, must not end the transaction; and one connection answers one after the other. */
export function savepoints(tx: Queryable): Queryable {
  let line: Promise<unknown> = Promise.resolve();
  return {
    query: (text, values) => {
      const turn = line.then(async () => {
        await tx.query("SAVEPOINT s");
        try {
          return await tx.query(text, values);
        } catch (error) {
          await tx.query("ROLLBACK TO s");
          throw error;
        }
      });
      line = turn.catch(() => {});
      return turn as ReturnType<Queryable["query"]>;
    },
  } as Queryable;
}
