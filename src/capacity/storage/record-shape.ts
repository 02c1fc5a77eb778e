/**
 * The tables of the record store as the storage model sees them. A test
 * compares this with `pg_attribute` and `pg_index` of a migrated database;
 * `capacity verify` reads those and does not rely on this page.
 */
import type { ColumnShape, IndexShape, TableShape } from "./tuple.ts";

export const recordTables = [
  "execution",
  "shard",
  "shard_attempt",
  "execution_live",
  "shard_live",
  "job",
] as const;
export type RecordTable = (typeof recordTables)[number];
export type RecordShapes = Readonly<Record<RecordTable, TableShape>>;

/** Tables that are partitioned by month and kept for the retention time. */
export const keptTables = ["execution", "shard", "shard_attempt"] as const satisfies readonly RecordTable[];

/** Lengths and alignments of the types in use. */
const typeShape: Readonly<Record<string, readonly [length: number, alignment: number]>> = {
  bool: [1, 1],
  int2: [2, 2],
  int4: [4, 4],
  int8: [8, 8],
  float8: [8, 8],
  timestamptz: [8, 8],
  uuid: [16, 1],
  text: [-1, 4],
};

export const recordShapes: RecordShapes = {
  execution: table(
    "execution",
    `job_id int4, fire_time timestamptz, execution_id uuid, run_no int4, trigger_type text, status text,
     period_key text, job_version int4, digest text, shard_count int4, schedule_time timestamptz,
     planned_at timestamptz, opened_at timestamptz, actual_start_time timestamptz, actual_end_time timestamptz,
     duration_ms int8, missed_seconds float8, epoch int8, reason text, revoked_at timestamptz`,
    [unique("execution_pkey", "job_id", "fire_time")],
  ),
  shard: table(
    "shard",
    `job_id int4, fire_time timestamptz, shard_no int4, status text, attempt int4, owner uuid, fence_token int8,
     start_time timestamptz, end_time timestamptz, rows int8, error text`,
    [unique("shard_pkey", "job_id", "fire_time", "shard_no")],
  ),
  shard_attempt: table(
    "shard_attempt",
    `job_id int4, fire_time timestamptz, shard_no int4, attempt int4, outcome text, owner uuid, fence_token int8,
     start_time timestamptz, end_time timestamptz, rows int8, exit_code int4, error text`,
    [unique("shard_attempt_pkey", "job_id", "fire_time", "shard_no", "attempt")],
  ),
  execution_live: table(
    "execution_live",
    `job_id int4, fire_time timestamptz, state text, due_at timestamptz, trigger_type text, chain_after timestamptz,
     queued bool, started bool, catch_up bool, remaining int4, failed int4, cancelled int4, class int2,
     max_tries int2, misfire_threshold_ms int8, start_within_ms int8, start_by timestamptz, blocking text,
     continue_fenced bool, freezes bool`,
    [
      unique("execution_live_pkey", "job_id", "fire_time"),
      partial("execution_live_due", "due_at"),
      partial("execution_live_start_by", "start_by"),
    ],
    50,
  ),
  shard_live: table(
    "shard_live",
    `job_id int4, fire_time timestamptz, shard_no int4, class int2, catch_up bool, continue_fenced bool,
     cancel_requested bool, max_tries int2, tries int2, attempt int4, run_after timestamptz, start_by timestamptz, interrupted bool,
     owner uuid, fence_token int8, start_time timestamptz`,
    [
      unique("shard_live_pkey", "job_id", "fire_time", "shard_no"),
      partial("shard_live_ready", "class", "catch_up", "run_after"),
      partial("shard_live_owner", "owner"),
    ],
  ),
  job: table(
    "job",
    `job_id int4, namespace text, name text, ancestor int4, state text, state_reason text, state_since timestamptz,
     version int4, known_since timestamptz, planned_until timestamptz`,
    [
      unique("job_pkey", "job_id"),
      unique("job_namespace_name_key", "namespace", "name"),
      partial("job_cursor", "planned_until"),
    ],
    80,
  ),
};

function table(name: string, columns: string, indexes: readonly IndexShape[], fillFactor = 100): TableShape {
  return { name, columns: columns.split(",").map((text) => column(text.trim())), indexes, fillFactor };
}

function column(text: string): ColumnShape {
  const [name, type] = text.split(" ");
  const shape = typeShape[type ?? ""];
  if (name === undefined || shape === undefined) throw new RangeError(`column ${text}`);
  return { name, length: shape[0], alignment: shape[1] };
}

function unique(name: string, ...columns: string[]): IndexShape {
  return { name, columns, isUnique: true, isPartial: false, fillFactor: 90 };
}

function partial(name: string, ...columns: string[]): IndexShape {
  return { name, columns, isUnique: false, isPartial: true, fillFactor: 90 };
}
