/** Takes down how much was paid so far, once for each fire, however often it is tried. */
import { attempt, fencedTransaction, reportRows } from "./attempt.mjs";

await fencedTransaction(async (ledger) => {
  await ledger.query("DELETE FROM snapshot WHERE job = $1 AND fire_time = $2", [
    attempt.job,
    attempt.fireTime,
  ]);
  await ledger.query(
    "INSERT INTO snapshot (job, fire_time, payments, pence) SELECT $1, $2, count(*), coalesce(sum(pence), 0) FROM payment",
    [attempt.job, attempt.fireTime],
  );
});
await reportRows(1);
