/**
 * One shard of the bonus payout: one POST for each person. A call cannot share
 * a transaction with anything, so an attempt that was killed half way leaves
 * payouts of which nobody knows the answer. The next one sends them again with
 * the same key, and the receiver pays each key once.
 */
import { attempt, inThisShard, reportRows, withLedger } from "./attempt.mjs";

const values = [];
const mine = inThisShard("person_id", values);

const people = await withLedger(async (ledger) => {
  const { rows } = await ledger.query(
    `SELECT person_id AS person, bonus_pence::integer AS pence FROM person WHERE ${mine} ORDER BY person_id`,
    values,
  );
  return rows;
});

let paid = 0;
for (const { person, pence } of people) {
  const response = await fetch(process.env.PAYOUT_URL, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // The same in every attempt; that is all the magic there is.
      "idempotency-key": `${attempt.idempotencyKey}/${person}`,
    },
    body: JSON.stringify({ person, pence, job: attempt.job, fireTime: attempt.fireTime }),
  });
  if (!response.ok) throw new Error(`payout of ${person}: status ${response.status}`);
  await response.text();
  paid += 1;
  if (paid % 5 === 0) await reportRows(paid);
}
await reportRows(paid);
console.log(`${attempt.fireTime}: ${paid} bonuses paid`);
