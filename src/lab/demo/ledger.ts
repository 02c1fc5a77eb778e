/** The database that the example's jobs work on: filled before, read and judged after. Never the record store. */
import { readFileSync } from "node:fs";
import { Database } from "../../store/database.ts";
import type { Payment, Person } from "./payment.ts";

export interface SettledRow {
  readonly period: string;
  readonly supplier: string;
  readonly payments: number;
  readonly pence: number;
}

export interface SnapshotRow {
  /** `namespace/name` */
  readonly job: string;
  readonly fireMs: number;
  /** How many times that fire's snapshot is there. */
  readonly count: number;
}

/** Rows of one insert. */
const batch = 5_000;

export class Ledger {
  readonly #db: Database;

  /** @param url as its owner */
  constructor(url: string) {
    this.#db = new Database(url, { applicationName: "demo", maxConnections: 2 });
  }

  /** @param schemaFile the example's ledger.sql */
  async fill(schemaFile: string, payments: readonly Payment[], people: readonly Person[]): Promise<void> {
    await this.#db.query(readFileSync(schemaFile, "utf8"));
    for (let from = 0; from < payments.length; from += batch)
      await this.#insertPayments(payments.slice(from, from + batch));
    await this.#db.query(
      "INSERT INTO person (person_id, bonus_pence) SELECT * FROM unnest($1::text[], $2::bigint[])",
      [people.map((one) => one.person), people.map((one) => one.bonusPence)],
    );
    // Statistics by now, and not in the middle of the first settlement.
    await this.#db.query("ANALYZE");
  }

  async #insertPayments(rows: readonly Payment[]): Promise<void> {
    await this.#db.query(
      `INSERT INTO payment (file, row_no, period, payment_date, unit, supplier_id, pence)
       SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::date[], $5::text[], $6::text[], $7::bigint[])`,
      [
        rows.map((row) => row.file),
        rows.map((row) => row.row),
        rows.map((row) => row.period),
        rows.map((row) => row.date),
        rows.map((row) => row.unit),
        rows.map((row) => row.supplier),
        rows.map((row) => row.pence),
      ],
    );
  }

  /** Every row of the settlement, as it is: a doubled one is there twice. */
  async settled(): Promise<SettledRow[]> {
    const { rows } = await this.#db.query<SettledRow>(
      "SELECT period, supplier_id AS supplier, payments, pence FROM settlement ORDER BY period, supplier_id",
    );
    return rows;
  }

  async snapshots(): Promise<SnapshotRow[]> {
    const { rows } = await this.#db.query<{ job: string; fireTime: Date; count: number }>(
      `SELECT job, fire_time AS "fireTime", count(*)::integer AS count FROM snapshot GROUP BY job, fire_time`,
    );
    return rows.map(({ job, fireTime, count }) => ({ job, fireMs: fireTime.getTime(), count }));
  }

  /** Writes that the fence has refused. */
  async refusedWrites(): Promise<number> {
    const { rows } = await this.#db.query<{ count: number }>(
      "SELECT count(*)::integer AS count FROM refused_write",
    );
    return rows[0]!.count;
  }

  async close(): Promise<void> {
    await this.#db.end();
  }
}
