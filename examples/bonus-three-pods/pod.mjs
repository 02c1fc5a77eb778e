/**
 * One pod of the bonus service: a cron inside, a database, a payment endpoint outside.
 * MODE says what keeps three of these from paying three times: nothing, a lock, or the guard.
 */
import { openGuard } from "escapement/guard";
import pg from "pg";

const { DATABASE_URL, PAYMENT_URL, MODE, LOCK_TTL_MS, LEASE_MS } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 4 });
pool.on("error", () => {});
const guard = openGuard(pool);

/** Every month, at the same instant in every pod. The calendar is fast-forwarded by run.mjs. */
process.on("message", ({ month, atMs }) => {
  setTimeout(
    () => {
      payBonuses(month).then(
        (status) => process.send({ month, status }),
        (error) => process.send({ month, status: `error: ${error.message}` }),
      );
    },
    Math.max(0, atMs - Date.now()),
  );
});
process.on("disconnect", () => process.exit());
process.send({ ready: true });

const payBonuses = { none: payWithoutAnything, lock: payUnderLock, guard: payUnderGuard }[MODE];

async function due(month) {
  const { rows } = await pool.query(
    "SELECT user_id, cents FROM bonus_due WHERE batch_id = $1 ORDER BY user_id",
    [month],
  );
  return rows;
}

// --- as it was written when there was one pod ------------------------------------------------

async function payWithoutAnything(month) {
  for (const { user_id, cents } of await due(month)) await payIfNotPaid(month, user_id, cents);
  return "ran";
}

/** Looks first, then pays, then writes it down. With two of these at once, both look before either writes. */
async function payIfNotPaid(month, userId, cents) {
  const paid = await pool.query("SELECT 1 FROM reward_records WHERE batch_id = $1 AND user_id = $2", [
    month,
    userId,
  ]);
  if (paid.rowCount > 0) return;
  await pay({ month, userId, cents });
  await pool.query("INSERT INTO reward_records (batch_id, user_id, cents) VALUES ($1, $2, $3)", [
    month,
    userId,
    cents,
  ]);
}

// --- first repair: a lock with a time to live, and no fence -----------------------------------

async function payUnderLock(month) {
  for (;;) {
    const done = await pool.query("SELECT 1 FROM batch_done WHERE batch_id = $1", [month]);
    if (done.rowCount > 0) return "already-done";
    const lock = await pool.query(
      `INSERT INTO cron_lock (name, until) VALUES ('bonus', clock_timestamp() + make_interval(secs => $1))
         ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE cron_lock.until < clock_timestamp()`,
      [Number(LOCK_TTL_MS) / 1_000],
    );
    if (lock.rowCount === 1) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await payWithoutAnything(month);
  await pool.query("INSERT INTO batch_done VALUES ($1) ON CONFLICT DO NOTHING", [month]);
  await pool.query("UPDATE cron_lock SET until = clock_timestamp() WHERE name = 'bonus'");
  return "ran";
}

// --- second repair: the guard ----------------------------------------------------------------

async function payUnderGuard(month) {
  for (;;) {
    const outcome = await guard.once(
      {
        job: "bonus",
        period: month,
        leaseMs: Number(LEASE_MS),
        blocking: "wait",
        rerunAfterCrash: true,
        rerunAfterFailure: true,
      },
      async (run) => {
        for (const { user_id, cents } of await due(month)) {
          if (!run.isHeld()) throw new Error("the lease was lost");
          await payOnce(run, month, user_id, cents);
        }
      },
    );
    if (outcome.status === "ran" || outcome.status === "already-done") return outcome.status;
  }
}

async function payOnce(run, month, userId, cents) {
  const key = `${run.key}/${userId}`;
  const outcome = await guard.externalCall(
    key,
    {
      receiver: { name: "payments", deduplicating: true },
      request: { month, userId, cents },
      leaseMs: Number(LEASE_MS),
      busyWaitMs: 2 * Number(LEASE_MS),
    },
    ({ signal }) => pay({ month, userId, cents }, key, signal),
  );
  if (outcome.status !== "done") throw new Error(`${key}: ${outcome.status}`);
  // The row and its key commit together: a second run finds the key and writes nothing.
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query("BEGIN");
    await guard.withFence(client, run.fence);
    await guard.claim(key, client, async () => {
      await client.query("INSERT INTO reward_records (batch_id, user_id, cents) VALUES ($1, $2, $3)", [
        month,
        userId,
        cents,
      ]);
    });
    await client.query("COMMIT");
    isBroken = false;
  } finally {
    client.release(isBroken);
  }
}

// --- the outside ------------------------------------------------------------------------------

async function pay(payment, key, signal) {
  const response = await fetch(PAYMENT_URL, {
    method: "POST",
    headers: { "x-pod": String(process.pid), ...(key ? { "idempotency-key": key } : {}) },
    body: JSON.stringify(payment),
    signal,
  });
  if (!response.ok) throw new Error(`the payment endpoint answered ${response.status}`);
  return await response.json();
}
