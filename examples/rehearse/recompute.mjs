/** Writes what every supplier was paid, as a whole. Doing it twice gives the same. */
import pg from "pg";

const ledger = new pg.Client({ connectionString: process.env.LEDGER_URL });
await ledger.connect();
try {
  await ledger.query(
    `INSERT INTO supplier_total (supplier_id, pence)
     SELECT supplier_id, sum(pence) FROM payment GROUP BY supplier_id
     ON CONFLICT (supplier_id) DO UPDATE SET pence = excluded.pence`,
  );
} finally {
  await ledger.end();
}
