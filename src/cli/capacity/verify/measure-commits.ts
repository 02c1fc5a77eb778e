/** How many commits share a flush here, with 1 to 16 sessions that commit as fast as they can. */
import { monotonicMs } from "../../../base/monotonic.ts";
import { commitsPerFlush } from "../../../capacity/iops/group-commit.ts";
import { Database, type Queryable } from "../../../store/database.ts";
import type { CommitRate } from "./report.ts";

const sessionCounts = [1, 2, 4, 8, 16] as const;
const measureMs = 1_500;

/** @param url a database of its own */
export async function measureCommits(url: string): Promise<CommitRate[]> {
  const most = Math.max(...sessionCounts);
  const db = new Database(url, { maxConnections: most + 1, applicationName: "escapement-verify" });
  try {
    await db.query("CREATE TABLE small_write (session integer, number integer)");
    const rates: CommitRate[] = [];
    for (const sessions of sessionCounts) rates.push(await measureWith(db, sessions));
    return rates;
  } finally {
    await db.end();
  }
}

async function measureWith(db: Database, sessions: number): Promise<CommitRate> {
  const before = await flushes(db);
  const start = monotonicMs();
  let commits = 0;
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      while (monotonicMs() - start < measureMs) {
        // One statement is one transaction; the database runs with synchronous_commit off for the loads.
        await db.query(
          "BEGIN; SET LOCAL synchronous_commit = on; INSERT INTO small_write VALUES (" +
            `${session}, ${commits}` +
            "); COMMIT",
        );
        commits++;
      }
    }),
  );
  const seconds = (monotonicMs() - start) / 1_000;
  const done = (await flushes(db)) - before;
  return {
    sessions,
    commitsPerSecond: commits / seconds,
    flushesPerSecond: done / seconds,
    commitsPerFlush: commits / Math.max(1, done),
    model: commitsPerFlush(sessions),
  };
}

/** Flushes of the log since the server started; the view was renamed in version 18. */
async function flushes(db: Queryable): Promise<number> {
  // The statistics of other sessions arrive with their next idle moment.
  await db.query("SELECT pg_sleep(0.1)");
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
