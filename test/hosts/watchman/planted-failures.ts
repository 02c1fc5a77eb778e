/** Plants the failures that need no fault of a host: side by side, each on a job of its own. */
import { until } from "../../support/until.ts";
import { type ClusterConsole, patient } from "./cluster-console.ts";
import { alwaysSaid, edits, plantedJobs, ranByHand, saidAfterwards, unplannedJobs } from "./planted-jobs.ts";

export interface Forgotten {
  /** Ends the session that keeps the jobs' own database locked. */
  readonly freeLedger: () => Promise<unknown>;
  /** Ends the session that holds the row of a job. */
  readonly freeJob: () => Promise<unknown>;
}

/** What a leader, executors and people do wrong together. @param ledger URL of the jobs' own database */
export async function plantWithLeader(cluster: ClusterConsole, ledger: string): Promise<Forgotten> {
  await cluster.own(
    "guard install --url 'postgres://postgres@/ledger?host=/var/run/postgresql' --grant-to ledger_job",
  );
  const freeLedger = await cluster.forget(
    "ledger-lock",
    "LOCK TABLE escapement_guard.external_call",
    "ledger",
  );
  await cluster.apply(plantedJobs(ledger));
  await cluster.ownEach([...ranByHand, "minute"].map((job) => `run ops/${job} --reason planted`));
  const running = async () => {
    const { executions } = await cluster.ask("executions --job ops/stopped --status running");
    return executions[0]?.fireTime as string | undefined;
  };
  const cancelled = await until(running, { ...patient, what: "a run to be cancelled" });
  await cluster.ownEach([
    `cancel ops/stopped ${cancelled} --reason planted`,
    "jobs pause ops/pauses --reason planted",
    "jobs delete ops/deletes --reason planted",
  ]);
  await cluster.apply(edits("11s"));
  const planned = `SELECT count(*) FROM escapement.execution_live l JOIN escapement.job j USING (job_id)
    WHERE j.name = 'locked' AND l.state = 'planned'`;
  await until(async () => (await cluster.sql(planned)) !== "0", { ...patient, what: "fires planned ahead" });
  // Nobody may write the row of the job: so nobody can open its fires.
  const locked = await cluster.sql("SELECT job_id FROM escapement.job WHERE name = 'locked'");
  const row = `SELECT 1 FROM escapement.job WHERE job_id = ${locked} FOR UPDATE`;
  return { freeLedger, freeJob: await cluster.forget("forgotten", row) };
}

/** Jobs that nobody plans, one of them in a zone that nobody knows. */
export async function plantWithoutLeader(cluster: ClusterConsole): Promise<void> {
  await cluster.apply(unplannedJobs);
  await cluster.sql(zoneOfBroken("Mars/Olympus"));
}

/** Repairs it, once the scheduler has said that it cannot plan it. */
export async function repairBroken(cluster: ClusterConsole): Promise<void> {
  const told = "SELECT count(*) FROM escapement.alert_outbox WHERE kind = 'job-unplannable'";
  await until(async () => (await cluster.sql(told)) !== "0", {
    ...patient,
    what: "the scheduler to say that it cannot plan",
  });
  await cluster.sql(zoneOfBroken("UTC"));
}

function zoneOfBroken(name: string): string {
  return `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{timeZone}', '"${name}"')
    WHERE job_id = (SELECT job_id FROM escapement.job WHERE name = 'broken');`;
}

/** What follows needs the machine for itself. */
export async function endPlanted(cluster: ClusterConsole): Promise<void> {
  const planted = [...Object.keys({ ...alwaysSaid, ...saidAfterwards }), "edits", "locked", "broken"];
  await cluster.ownEach(
    planted.filter((job) => job !== "minute").map((job) => `jobs delete ops/${job} --reason planted`),
  );
}
