/**
 * One shard of the settlement: replaces what its suppliers were paid in the
 * month by a whole recomputation. Doing it twice gives the same as doing it once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { attempt, fencedTransaction, inThisShard, reportRows } from "./attempt.mjs";

const month = [attempt.period];
const mine = `period = $1 AND ${inThisShard("supplier_id", month)}`;

const settled = await fencedTransaction(async (ledger) => {
  await ledger.query(`DELETE FROM settlement WHERE ${mine}`, month);
  const inserted = await ledger.query(
    `INSERT INTO settlement (period, supplier_id, payments, pence, fence_token)
     SELECT period, supplier_id, count(*), sum(pence), $${month.length + 1}::bigint
     FROM payment WHERE ${mine} GROUP BY period, supplier_id`,
    [...month, attempt.fenceToken],
  );
  await pause(Number(process.env.PACE_MS ?? 0));
  return inserted.rowCount;
});
await reportRows(settled);
console.log(`${attempt.period}: ${settled} suppliers settled`);
