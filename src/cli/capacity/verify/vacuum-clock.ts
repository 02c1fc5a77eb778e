/** Starts a vacuum when autovacuum would, by the load's own count of changes: the same in every run. */
import type { Queryable } from "../../../store/database.ts";

interface Threshold {
  readonly threshold: number;
  /** Share of the table's rows. */
  readonly scale: number;
}

export class VacuumClock {
  readonly #db: Queryable;
  readonly #rows = new Map<string, number>();
  readonly #changes = new Map<string, number>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  inserted(table: string, month: Date | undefined, rows: number): void {
    add(this.#rows, partitionName(table, month), rows);
  }

  changed(table: string, month: Date | undefined, rows: number): void {
    add(this.#changes, partitionName(table, month), rows);
  }

  /** Vacuums those of the tables that are due. */
  async run(
    tables: readonly (readonly [table: string, month: Date | undefined, when: Threshold])[],
  ): Promise<void> {
    for (const [table, month, { threshold, scale }] of tables) {
      const name = partitionName(table, month);
      const rows = this.#rows.get(name) ?? 0;
      if ((this.#changes.get(name) ?? 0) <= threshold + scale * rows) continue;
      this.#changes.set(name, 0);
      await this.#db.query(`VACUUM escapement.${name}`);
    }
  }
}

/** As the store's `ensure_partitions` names them. */
export function partitionName(table: string, month: Date | undefined): string {
  return month ? `${table}_${month.toISOString().slice(0, 7).replace("-", "_")}` : table;
}

function add(map: Map<string, number>, key: string, count: number): void {
  map.set(key, (map.get(key) ?? 0) + count);
}
