/** Loads a pattern into a database of its own and measures what it took. */
import { monotonicMs } from "../../../base/monotonic.ts";
import type { RecordPattern } from "../../../capacity/storage/record-pattern.ts";
import { keptTables } from "../../../capacity/storage/record-shape.ts";
import { Database, type Queryable } from "../../../store/database.ts";
import { migrate } from "../../../store/migrate.ts";
import { prune } from "../../../store/retention.ts";
import { monthsOf, RecordLoad } from "./record-load.ts";

export interface RecordMeasurement {
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly walBytes: number;
  /** Rows of executions, shards and attempts that were inserted. */
  readonly rows: number;
  readonly seconds: number;
}

/** A vacuum of a large table and a checkpoint may take minutes on a slow disk. */
const queryTimeoutMs = 900_000;

/** @param url an empty database; it is migrated here */
export async function measureRecords(
  url: string,
  pattern: RecordPattern,
  progress: (shards: number) => void,
): Promise<RecordMeasurement> {
  const db = new Database(url, { maxConnections: 1, applicationName: "escapement-verify", queryTimeoutMs });
  try {
    await migrate(db);
    const months = monthsOf(pattern, new Date());
    const load = new RecordLoad(db, pattern, months);
    await load.prepare();
    await db.query("CHECKPOINT");
    const start = await logPosition(db);
    const startMs = monotonicMs();
    await load.run(progress);
    const seconds = (monotonicMs() - startMs) / 1_000;
    const walBytes = await logSince(db, start);
    const { rows } = await db.query<{ rows: number }>(
      `SELECT ${keptTables.map((table) => `(SELECT count(*) FROM escapement.${table})`).join(" + ")} AS rows`,
    );
    if (pattern.dropMonths > 0) {
      await prune(db, months[pattern.dropMonths]!, {
        person: "capacity verify",
        reason: "measure the drop of a month",
      });
    }
    return { ...(await recordSizes(db)), walBytes, rows: rows[0]!.rows, seconds };
  } finally {
    await db.end();
  }
}

/** Table and index bytes of the kept records, over all months. */
async function recordSizes(db: Queryable): Promise<{ heapBytes: number; indexBytes: number }> {
  const { rows } = await db.query<{ heap: number; index: number }>(
    `SELECT coalesce(sum(pg_relation_size(c.oid)), 0)::bigint AS heap, coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint AS index
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = ANY ($1::regclass[]) AND pg_relation_size(c.oid) > 0`,
    [keptTables.map((table) => `escapement.${table}`)],
  );
  return { heapBytes: rows[0]!.heap, indexBytes: rows[0]!.index };
}

async function logPosition(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ at: string }>("SELECT pg_current_wal_insert_lsn()::text AS at");
  return rows[0]!.at;
}

async function logSince(db: Queryable, start: string): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::bigint AS bytes",
    [start],
  );
  return rows[0]!.bytes;
}
