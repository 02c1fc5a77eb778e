/** How many commits share a flush here, with 1 to 16 sessions that commit as fast as they can. */
import { monotonicMs, sleep } from "../../../base/monotonic.ts";
import { commitsPerFlush } from "../../../capacity/iops/group-commit.ts";
import { Database, type Queryable } from "../../../store/database.ts";
import type { CommitRate } from "./report.ts";

const sessionCounts = [1, 2, 4, 8, 16] as const;
const measureMs = 1_500;
const loadName = "escapement-verify-load";

/** @param url a database of its own */
export async function measureCommits(url: string): Promise<CommitRate[]> {
  const db = new Database(url, { maxConnections: 1, applicationName: "escapement-verify" });
  try {
    await db.query("CREATE TABLE small_write (session integer, number integer)");
    const rates: CommitRate[] = [];
    for (const sessions of sessionCounts) rates.push(await measureWith(db, url, sessions));
    return rates;
  } finally {
    await db.end();
  }
}

async function measureWith(db: Queryable, url: string, sessions: number): Promise<CommitRate> {
  const before = await flushes(db);
  const load = new Database(url, { maxConnections: sessions, applicationName: loadName });
  const { commits, seconds } = await commitWith(load, sessions).finally(() => load.end());
  const done = (await flushes(db)) - before;
  return {
    sessions,
    commitsPerSecond: commits / seconds,
    flushesPerSecond: done / seconds,
    commitsPerFlush: commits / Math.max(1, done),
    model: commitsPerFlush(sessions),
  };
}

async function commitWith(load: Queryable, sessions: number): Promise<{ commits: number; seconds: number }> {
  // Connecting is no part of the measurement.
  await Promise.all(Array.from({ length: sessions }, () => load.query("SELECT 1")));
  const start = monotonicMs();
  let commits = 0;
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      while (monotonicMs() - start < measureMs) {
        // One statement is one transaction; the database runs with synchronous_commit off for the loads.
        await load.query(
          "BEGIN; SET LOCAL synchronous_commit = on; INSERT INTO small_write VALUES (" +
            `${session}, ${commits}` +
            "); COMMIT",
        );
        commits++;
      }
    }),
  );
  return { commits, seconds: (monotonicMs() - start) / 1_000 };
}

/** Flushes of the log since the server started; the view was renamed in version 18. */
async function flushes(db: Queryable): Promise<number> {
  // A session reports what it did once a second, and the rest when it ends: nobody may be left.
  const deadline = monotonicMs() + 10_000;
  for (;;) {
    const { rows } = await db.query<{ left: number }>(
      "SELECT count(*)::integer AS left FROM pg_stat_activity WHERE application_name = $1",
      [loadName],
    );
    if (rows[0]!.left === 0 || monotonicMs() > deadline) break;
    await sleep(20);
  }
  const { rows } = await db.query<{ version: string }>(
    "SELECT current_setting('server_version_num') AS version",
  );
  const sql =
    Number(rows[0]!.version) >= 180_000
      ? "SELECT coalesce(sum(fsyncs), 0)::bigint AS count FROM pg_stat_io WHERE object = 'wal'"
      : "SELECT wal_sync AS count FROM pg_stat_wal";
  const result = await db.query<{ count: number }>(sql);
  return result.rows[0]!.count;
}
