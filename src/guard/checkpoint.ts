/** `checkpoint`: go on inside a range where the last run was killed. */
import { openCheckpoint, saveCheckpoint } from "../store/guard-fence.ts";
import type { Queryable } from "./queryable.ts";

export interface Checkpoint<P> {
  /** The last saved position; null at the first start. */
  readonly position: P | null;
  /**
   * Saves a position in the transaction of the rows it stands for.
   * @throws E_GUARD_STALE someone opened it after us, E_GUARD_NO_TRANSACTION
   */
  save(tx: Queryable, position: P): Promise<void>;
}

/** Opens a checkpoint and takes it over: older holders can save no more. @throws E_GUARD_KEY_DATE, E_GUARD_TOO_OLD */
export async function openPlace<P>(db: Queryable, key: string): Promise<Checkpoint<P>> {
  const { saved, token } = await openCheckpoint(db, key);
  return {
    position: (saved ?? null) as P | null,
    save: (tx, position) => saveCheckpoint(tx, key, token, position),
  };
}
