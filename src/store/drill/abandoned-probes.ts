/**
 * Probe jobs that no controller looks after. Nobody answers them any more, they
 * try again and again, and keep the slots from everybody's jobs.
 */
import type { Database, Queryable } from "../database.ts";
import type { Deed } from "../operation.ts";
import { probeNamespace } from "./drill-sample.ts";
import { cancelDeletedProbes, endProbe } from "./probe-job.ts";

/** Probe jobs while no run's controller is alive by the database's clock. */
export interface AbandonedProbes {
  /** The run that was not ended; null: there is none. */
  readonly runId: string | null;
  /** Until when its controller was alive, as the database writes it. */
  readonly leaseUntil: string | null;
}

/** Null: there are none, or a controller is alive. */
export async function abandonedProbes(db: Queryable): Promise<AbandonedProbes | null> {
  const { rows } = await db.query<AbandonedProbes>(
    `SELECT r.run_id AS "runId", r.lease_until::text AS "leaseUntil"
     FROM (SELECT 1) one LEFT JOIN escapement.drill_run r ON r.ended_at IS NULL
     WHERE EXISTS (SELECT 1 FROM escapement.job j WHERE j.namespace = $1 AND j.state <> 'deleted')
       AND (r.run_id IS NULL OR r.lease_until < clock_timestamp())`,
    [probeNamespace],
  );
  return rows[0] ?? null;
}

/**
 * Deletes the probe jobs, and cancels what they have alive. The run stays as it is: whoever ends it looks
 * after its hosts.
 * @param seen what was abandoned; if anything has changed since, nothing is done
 * @returns how many jobs were deleted
 */
export async function removeAbandonedProbes(
  db: Database,
  seen: AbandonedProbes,
  deed: Deed,
): Promise<number> {
  const removed = await db.transaction(async (tx) => {
    // Whoever takes the run over waits for this, and finds no probes.
    const { rows } = await tx.query<{ leaseUntil: string }>(
      `SELECT lease_until::text AS "leaseUntil" FROM escapement.drill_run WHERE ended_at IS NULL FOR UPDATE`,
    );
    if ((rows[0]?.leaseUntil ?? null) !== seen.leaseUntil) return 0;
    const jobs = await tx.query<{ name: string }>(
      "SELECT name FROM escapement.job WHERE namespace = $1 AND state <> 'deleted' ORDER BY name",
      [probeNamespace],
    );
    let count = 0;
    for (const { name } of jobs.rows) if (await endProbe(tx, name, "deleted", deed)) count++;
    return count;
  });
  await cancelDeletedProbes(db, deed);
  return removed;
}
