/**
 * What the programs of this example share: who this attempt is, the ledger
 * behind its fence, and the line to the executor.
 */
import { createConnection } from "node:net";
import pg from "pg";

const env = process.env;

/** Told by the executor. */
export const attempt = {
  job: env.ESCAPEMENT_JOB,
  fireTime: env.ESCAPEMENT_FIRE_TIME,
  /** The month, for a job that declares a period. */
  period: env.ESCAPEMENT_PERIOD,
  shardNo: Number(env.ESCAPEMENT_SHARD_NO),
  /** Shards that ordinary keys are spread over. */
  hashShards: Number(env.ESCAPEMENT_HASH_SHARDS ?? 1),
  /** Set in the shard of one heavy key: that key. */
  shardKey: env.ESCAPEMENT_SHARD_KEY,
  /** Set in every other shard: the keys to leave out. */
  heavyKeys: JSON.parse(env.ESCAPEMENT_HEAVY_KEYS ?? "[]"),
  /** Text: it may be larger than a JavaScript number can hold exactly. */
  fenceToken: env.ESCAPEMENT_FENCE_TOKEN,
  /** The same for every attempt of this execution. */
  idempotencyKey: env.ESCAPEMENT_IDEMPOTENCY_KEY,
};

/**
 * SQL for "this key belongs to this shard".
 * @param column the business key. @param values parameters of the statement; what the SQL needs is appended
 */
export function inThisShard(column, values) {
  if (attempt.shardKey !== undefined) return `${column} = $${values.push(attempt.shardKey)}`;
  const heavy = values.push(attempt.heavyKeys);
  const shards = values.push(attempt.hashShards);
  const shard = values.push(attempt.shardNo);
  return `${column} <> ALL ($${heavy}::text[]) AND shard_of(${column}, $${shards}) = $${shard}`;
}

/** Opens the ledger, runs `work` with it, closes it again. */
export async function withLedger(work) {
  const ledger = new pg.Client({ connectionString: env.LEDGER_URL });
  await ledger.connect();
  try {
    return await work(ledger);
  } finally {
    await ledger.end();
  }
}

/**
 * Runs `work` in one transaction that only the holder of the newest fence token
 * can commit. An attempt that was frozen and wakes up after another one has
 * taken its shard over comes with a lower token: nothing of it is written.
 */
export function fencedTransaction(work) {
  const resource = `${attempt.job}/${attempt.period ?? attempt.fireTime}/${attempt.shardNo}`;
  return withLedger(async (ledger) => {
    await ledger.query("BEGIN");
    // Also a lock: a second holder waits here until the first has ended, and is judged then.
    const passed = await ledger.query(
      `INSERT INTO fence AS f (resource, token) VALUES ($1, $2)
       ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE f.token <= excluded.token`,
      [resource, attempt.fenceToken],
    );
    if (passed.rowCount === 0) {
      await ledger.query("ROLLBACK");
      await ledger.query("INSERT INTO refused_write (resource, token) VALUES ($1, $2)", [
        resource,
        attempt.fenceToken,
      ]);
      throw new Error(`refused: ${resource} has been written with a newer token than ${attempt.fenceToken}`);
    }
    const result = await work(ledger);
    await ledger.query("COMMIT");
    return result;
  });
}

/**
 * Tells the executor how many rows are done. In a shell script:
 * `escapement report --rows N`. Without an executor it does nothing.
 */
export async function reportRows(rows) {
  const [path, token] = (env.ESCAPEMENT_SOCKET ?? "").split("?token=");
  if (!token) return;
  await new Promise((resolve, reject) => {
    const line = createConnection(path);
    line.on("error", reject).on("close", resolve);
    line.setEncoding("utf8");
    let answers = "";
    line.on("data", (text) => {
      answers += text;
      // One line for each of our two.
      if (answers.split("\n").length > 2) line.end();
    });
    line.write(`${JSON.stringify({ token })}\n${JSON.stringify({ rows })}\n`);
  });
}
