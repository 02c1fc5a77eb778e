/**
 * Changes to the jobs of a drill, by functions of the schema that know no others:
 * the role `escapement_drill` has no right to write to jobs otherwise.
 */
import type { JobDefinition } from "../../spec/job-definition.ts";
import { type Database, type Queryable, sqlState } from "../database.ts";
import type { Deed } from "../operation.ts";
import { probeNamespace } from "./drill-sample.ts";

export type ProbeApplied = "created" | "changed" | "revived" | "unchanged" | "busy";

/** Applies one probe job. `busy`: its shard count changes, and executions of before are alive. */
export async function applyProbe(
  db: Database,
  definition: JobDefinition,
  digest: string,
  { person, reason }: Deed,
): Promise<ProbeApplied> {
  const { rows } = await db.query<{ outcome: ProbeApplied }>(
    "SELECT escapement.drill_job_apply($1, $2, $3, $4) AS outcome",
    [JSON.stringify(definition), digest, person, reason],
  );
  return rows[0]!.outcome;
}

/** Pauses a probe job, so that what has come due still runs, or deletes it. False: it was so before. */
export async function endProbe(
  db: Queryable,
  name: string,
  state: "paused" | "deleted",
  { person, reason }: Deed,
): Promise<boolean> {
  const { rows } = await db.query<{ ended: boolean }>(
    "SELECT escapement.drill_job_end($1, $2, $3, $4) AS ended",
    [name, state, person, reason],
  );
  return rows[0]!.ended;
}

const deadlock = "40P01";
/** A dead executor's shards may be put back in the same moment, in another order. */
const tries = 5;

/**
 * Cancels every execution that deleted probe jobs still have alive, whoever deleted them: what waits ends
 * at once, what runs is killed by its executor, at the latest with that executor's lease.
 * @returns how many shards still run
 */
export async function cancelDeletedProbes(db: Database, deed: Deed): Promise<number> {
  const { rows } = await db.query<{ jobId: number; fireTime: Date }>(
    `SELECT l.job_id AS "jobId", l.fire_time AS "fireTime" FROM escapement.execution_live l JOIN escapement.job j USING (job_id)
     WHERE j.namespace = $1 AND j.state = 'deleted' ORDER BY l.job_id, l.fire_time`,
    [probeNamespace],
  );
  let running = 0;
  for (const { jobId, fireTime } of rows) running += await cancelOne(db, jobId, fireTime, deed);
  return running;
}

/** Executions of probe jobs that have not ended, of deleted ones, too. */
export async function liveProbes(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM escapement.execution_live l JOIN escapement.job j USING (job_id)
     WHERE j.namespace = $1`,
    [probeNamespace],
  );
  return rows[0]!.count;
}

async function cancelOne(
  db: Database,
  jobId: number,
  fireTime: Date,
  { person, reason }: Deed,
): Promise<number> {
  for (let left = tries - 1; ; left--)
    try {
      const { rows } = await db.query<{ running: number | null }>(
        "SELECT escapement.drill_job_cancel($1, $2, $3, $4) AS running",
        [jobId, fireTime, person, reason],
      );
      return rows[0]!.running ?? 0;
    } catch (error) {
      if (sqlState(error) !== deadlock || left === 0) throw error;
    }
}
