/** Reads the rows of a window in one snapshot, through a read-only transaction. */
import type { Database, Queryable } from "../../store/database.ts";
import { readFireJobs } from "../../store/diagnose/fire-jobs.ts";
import {
  readFireAttempts,
  readFireExecutions,
  readFireShards,
  readFireStaleWrites,
} from "../../store/diagnose/fire-rows.ts";
import { readCalls } from "../../store/diagnose/open-effects.ts";
import { readSurroundings } from "../../store/diagnose/surroundings.ts";
import { callPrefix, type DiagnoseRows } from "./diagnose-window.ts";

export interface WindowChoice {
  readonly jobId?: number;
  readonly from: Date;
  readonly to: Date;
  /** Most executions that are read; default 50,000. */
  readonly limit?: number;
}

export interface ReadWindow {
  readonly rows: DiagnoseRows;
  /** Earlier than asked for when there were more executions than the limit. */
  readonly to: Date;
  readonly truncated: boolean;
}

/** @param guard the job's own database, where the guard keeps its calls */
export async function readWindow(db: Database, choice: WindowChoice, guard?: Database): Promise<ReadWindow> {
  const limit = choice.limit ?? 50_000;
  const read = await db.transaction(async (tx) => {
    await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    return readRows(tx, choice, limit);
  });
  if (!guard) return read;
  const { rows } = read;
  const names = new Map(rows.jobs.map(({ jobId, job }) => [jobId, job]));
  const prefixes = rows.executions.map((one) =>
    callPrefix(names.get(one.jobId)!, one.fireTime.getTime(), one),
  );
  return { ...read, rows: { ...rows, calls: await readCalls(guard, [...new Set(prefixes)]) } };
}

async function readRows(
  tx: Queryable,
  { jobId, from, to }: WindowChoice,
  limit: number,
): Promise<ReadWindow> {
  const jobs = await readFireJobs(tx, { ...(jobId === undefined ? {} : { jobId }), from });
  const jobIds = jobs.map((job) => job.jobId);
  const found = await readFireExecutions(tx, jobIds, from, to, limit + 1);
  const truncated = found.length > limit;
  // Whole instants only, so that no fire of the last one is taken for absent.
  const end = truncated ? new Date(found[limit]!.fireTime.getTime() - 1) : to;
  const window = { jobIds, from, to: end };
  const rows: DiagnoseRows = {
    jobs,
    executions: truncated ? found.filter(({ fireTime }) => fireTime <= end) : found,
    shards: await readFireShards(tx, window),
    attempts: await readFireAttempts(tx, window),
    staleWrites: await readFireStaleWrites(tx, window),
    calls: [],
    around: await readSurroundings(tx, from, end),
  };
  return { rows, to: end, truncated };
}
