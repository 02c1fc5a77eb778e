/** `checkpoint`: go on inside a range where the last run was killed. */
import { EscapementError } from "../base/errors.ts";
import { openCheckpoint, saveCheckpoint } from "../store/guard-fence.ts";
import type { Queryable } from "./queryable.ts";

export interface Checkpoint<P> {
  /** The last saved position; null at the first start. */
  readonly position: P | null;
  /**
   * Saves a position in the transaction of the rows it stands for.
   * @throws E_GUARD_STALE someone opened it after us, E_GUARD_NO_TRANSACTION, E_BAD_DATA no position
   */
  save(tx: Queryable, position: P): Promise<void>;
}

/** Opens a checkpoint and takes it over: older holders can save no more. @throws E_GUARD_KEY_DATE, E_GUARD_TOO_OLD */
export async function openPlace<P>(db: Queryable, key: string): Promise<Checkpoint<P>> {
  const { saved, token } = await openCheckpoint(db, key);
  return {
    position: (saved ?? null) as P | null,
    async save(tx, position) {
      // Nothing, kept, would send the next run back to the start, over rows that are written.
      if ((JSON.stringify(position) ?? "null") === "null") {
        throw new EscapementError("E_BAD_DATA", {
          what: `checkpoint ${key}: ${String(position)} is no position`,
          hint: "save what the next run needs to go on, for example the last id",
        });
      }
      await saveCheckpoint(tx, key, token, position);
    },
  };
}
