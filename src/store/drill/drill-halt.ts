/**
 * The stop switch of the cluster.
 *
 *   open ──halt──▶ halted: no drill starts, a running one restores ──lift──▶ open
 */
import type { Database, Queryable } from "../database.ts";
import { type Deed, recordOperation } from "../operation.ts";

export interface DrillHaltRow {
  readonly haltId: number;
  readonly at: Date;
  readonly person: string;
  readonly reason: string;
}

/** The halt in force; null when drills may run. */
export async function activeDrillHalt(db: Queryable): Promise<DrillHaltRow | null> {
  const { rows } = await db.query<DrillHaltRow>(
    `SELECT halt_id AS "haltId", at, person, reason FROM escapement.drill_halt WHERE lifted_at IS NULL`,
  );
  return rows[0] ?? null;
}

/** Halts. When it was halted before, that halt stays. @returns true if it was open */
export async function haltDrills(db: Database, deed: Deed): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      "INSERT INTO escapement.drill_halt (person, reason) VALUES ($1, $2) ON CONFLICT ((true)) WHERE lifted_at IS NULL DO NOTHING",
      [deed.person, deed.reason],
    );
    if (rowCount === 1) await recordOperation(tx, { ...deed, action: "drill halt" });
    return rowCount === 1;
  });
}

/** Lets drills run again. @returns false if nothing was halted */
export async function liftDrillHalt(db: Database, deed: Deed): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      "UPDATE escapement.drill_halt SET lifted_at = clock_timestamp(), lifted_by = $1 WHERE lifted_at IS NULL",
      [deed.person],
    );
    if (rowCount !== 0) await recordOperation(tx, { ...deed, action: "drill resume" });
    return rowCount !== 0;
  });
}
