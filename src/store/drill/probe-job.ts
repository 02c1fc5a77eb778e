/**
 * Changes to the jobs of a drill, by functions of the schema that know no others:
 * the role `escapement_drill` has no right to write to jobs otherwise.
 */
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Database } from "../database.ts";
import type { Deed } from "../operation.ts";

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
  db: Database,
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
