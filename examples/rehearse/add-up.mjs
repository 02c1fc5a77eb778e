/** Adds what was paid to the totals. Wrong on purpose: a second run adds it once more. */
import pg from "pg";

const ledger = new pg.Client({ connectionString: process.env.LEDGER_URL });
await ledger.connect();
try {
  await ledger.query(
    `UPDATE supplier_total t SET pence = t.pence + p.pence
     FROM (SELECT supplier_id, sum(pence) AS pence FROM payment GROUP BY supplier_id) p
     WHERE p.supplier_id = t.supplier_id`,
  );
} finally {
  await ledger.end();
}
