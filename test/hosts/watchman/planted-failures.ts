/** Plants the failures that need no fault of a host: side by side, each on a job of its own. */
import { until } from "../../support/until.ts";
import { type ClusterConsole, patient, patternsOf } from "./cluster-console.ts";
import {
  alwaysSaid,
  edits,
  plantedJobs,
  ranByHand,
  repeatedCall,
  saidAfterwards,
  saidOfUnrun,
  unplannedJobs,
} from "./planted-jobs.ts";

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
  // The one of the bootstrap was run by hand, and is nobody's twin.
  const fired = `SELECT count(*) FROM escapement.execution JOIN escapement.job USING (job_id)
    WHERE name = 'minute' AND trigger_type = 'schedule' AND status = 'success'`;
  await until(async () => (await cluster.sql(fired)) !== "0", { ...patient, what: "a fire of ops/minute" });
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

/** Frees what was locked. @returns what was not named in the end, each time with all that was: not only the first */
export async function unnamedWithoutLeader(
  cluster: ClusterConsole,
  since: Date,
  ledger: string,
  { freeLedger, freeJob }: Forgotten,
): Promise<string[]> {
  const wrong: string[] = [];
  const said = { ...alwaysSaid, ...saidOfUnrun };
  // The fire that was done twice is the last one before the run by hand.
  const from = new Date(since.getTime() - 90_000);
  await cluster.named(from, patternsOf(said), "--all --late 4s", "owner").catch(noteIn(wrong));
  await freeLedger();
  const log = await cluster.on("exec-1", "cat /var/log/escapement/jobs/exec-1/ops/waits.log");
  await cluster.on("watch-1", "cat > /run/waits.log", log);
  const waits = "--job ops/waits --log /run/waits.log";
  await cluster.named(since, [/^ops\/waits shard-failed lock-wait$/], waits).catch(noteIn(wrong));
  const { executions } = await cluster.ask("executions --job ops/pays --status success");
  await cluster.sql(repeatedCall(`ops/pays/${executions[0].fireTime}/S-1`), "ledger");
  const pays = [/^ops\/pays duplicate unrepeatable-call$/];
  await cluster.named(since, pays, `--guard '${ledger}'`).catch(noteIn(wrong));
  await freeJob();
  return wrong;
}

/** Ends what was planted. @returns what was not named in the end */
export async function unnamedAfterwards(cluster: ClusterConsole, down: Date): Promise<string[]> {
  const wrong: string[] = [];
  await cluster.named(down, patternsOf(saidAfterwards), "--late 4s").catch(noteIn(wrong));
  await repairBroken(cluster);
  await cluster.named(down, [/^ops\/broken never-fired bad-definition$/]).catch(noteIn(wrong));
  await endPlanted(cluster);
  return wrong;
}

function noteIn(wrong: string[]): (error: Error) => void {
  return ({ message }) => void wrong.push(message);
}

/** Repairs it, once the scheduler has said that it cannot plan it. */
async function repairBroken(cluster: ClusterConsole): Promise<void> {
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
