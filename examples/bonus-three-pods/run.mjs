/**
 * Runs months of bonus payments with three pods and says who was paid how often.
 *
 *   node examples/bonus-three-pods/run.mjs --url postgres://… --mode none|lock|guard
 *        [--runs 100] [--seed 1] [--faults] [--json]
 *
 * --faults: in some months a pod is killed, or frozen for longer than any lease, in the middle
 * of a payment. Which months, and where, follows from the seed.
 */
import { parseArgs } from "node:util";
import pg from "pg";
import { startPayments } from "./payments.mjs";
import { Pods } from "./pods.mjs";
import { seededRandom } from "./seeded-random.mjs";

const { values: options } = parseArgs({
  options: {
    url: { type: "string", default: process.env.DATABASE_URL },
    mode: { type: "string" },
    runs: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    faults: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
if (!options.url || !["none", "lock", "guard"].includes(options.mode)) {
  console.error("usage: run.mjs --url URL --mode none|lock|guard [--runs N] [--seed N] [--faults] [--json]");
  process.exit(64);
}

const lockTtlMs = 300;
const leaseMs = 1_000;
const random = seededRandom(Number(options.seed));
const db = new pg.Pool({ connectionString: options.url, max: 2 });
await db.query(`
  CREATE TABLE IF NOT EXISTS bonus_due (batch_id text, user_id text, cents bigint);
  CREATE TABLE IF NOT EXISTS reward_records (batch_id text, user_id text, cents bigint, created_at timestamptz DEFAULT clock_timestamp());
  CREATE TABLE IF NOT EXISTS batch_done (batch_id text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS cron_lock (name text PRIMARY KEY, until timestamptz)`);

let fault;
const payments = await startPayments(async (payment, pid) => {
  if (!fault || payment.month !== fault.month || --fault.countdown > 0) return;
  const { kind } = fault;
  fault = undefined;
  if (kind === "kill") return pods.signal(pid, "SIGKILL");
  // Frozen with the request on its way. Long enough for the lock and the lease to end and for another pod to take over.
  pods.signal(pid, "SIGSTOP");
  await new Promise((resolve) =>
    setTimeout(resolve, options.mode === "lock" ? 3 * lockTtlMs : 1.5 * leaseMs),
  );
  pods.signal(pid, "SIGCONT");
});
const pods = await Pods.start(3, {
  DATABASE_URL: options.url,
  PAYMENT_URL: payments.url,
  MODE: options.mode,
  LOCK_TTL_MS: String(lockTtlMs),
  LEASE_MS: String(leaseMs),
});

const total = {
  months: 0,
  wrongMonths: 0,
  people: 0,
  dueCents: 0,
  paidCents: 0,
  recordedCents: 0,
  killed: 0,
  frozen: 0,
};
const timesPaid = {};
try {
  for (let run = 0; run < Number(options.runs); run++) await payMonth(run);
} finally {
  pods.stop();
  payments.close();
  await db.end();
}
report();

async function payMonth(run) {
  const month = monthName(run);
  const due = Array.from({ length: 3 + random.below(4) }, (_, i) => ({
    userId: `user-${i}`,
    cents: 1 + random.below(500_000),
  }));
  for (const { userId, cents } of due)
    await db.query("INSERT INTO bonus_due VALUES ($1, $2, $3)", [month, userId, cents]);
  if (options.faults) fault = planFault(month, due.length);
  const planned = fault?.kind;
  await pods.strike(month, Date.now() + 10);
  // The month is not over before it is paid: a pod that died is replaced, and its cron catches up.
  await pods.heal();
  await pods.strike(month, Date.now());
  if (planned && !fault) total[planned === "kill" ? "killed" : "frozen"] += 1;
  fault = undefined;
  await judge(month, due);
}

function planFault(month, people) {
  const dice = random.below(100);
  if (dice >= 25) return undefined;
  return { month, kind: dice < 15 ? "kill" : "freeze", countdown: 1 + random.below(people) };
}

async function judge(month, due) {
  const { rows } = await db.query(
    "SELECT coalesce(sum(cents), 0) AS cents FROM reward_records WHERE batch_id = $1",
    [month],
  );
  let isRight = true;
  let dueCents = 0;
  for (const { userId, cents } of due) {
    const times = payments.accepted.filter(
      (one) => one.month === month && one.userId === userId && Number(one.cents) === cents,
    ).length;
    timesPaid[times] = (timesPaid[times] ?? 0) + 1;
    dueCents += cents;
    total.paidCents += times * cents;
    if (times !== 1) isRight = false;
  }
  if (Number(rows[0].cents) !== dueCents) isRight = false;
  total.months += 1;
  total.people += due.length;
  total.dueCents += dueCents;
  total.recordedCents += Number(rows[0].cents);
  if (!isRight) total.wrongMonths += 1;
}

function report() {
  if (options.json)
    return console.log(
      JSON.stringify({ mode: options.mode, seed: Number(options.seed), ...total, timesPaid }),
    );
  const money = (cents) => (cents / 100).toFixed(2);
  console.log(`mode ${options.mode}, seed ${options.seed}: ${total.months} months, ${total.people} bonuses`);
  console.log(`  due       ${money(total.dueCents)}`);
  console.log(
    `  paid      ${money(total.paidCents)}  (${(total.paidCents / total.dueCents).toFixed(2)} times)`,
  );
  console.log(`  recorded  ${money(total.recordedCents)}`);
  for (const [times, people] of Object.entries(timesPaid))
    console.log(`  ${people} bonuses paid ${times} times`);
  console.log(`  wrong months: ${total.wrongMonths}; pods killed: ${total.killed}, frozen: ${total.frozen}`);
}

function monthName(run) {
  return `${2026 + Math.floor(run / 12)}-${String(1 + (run % 12)).padStart(2, "0")}`;
}
