/**
 * After the faults: everything is healed, jobs are paused, work drains, what
 * used up its attempts is run again by hand, and the records are read when two
 * reads in a row agree.
 */
import { monotonicMs, sleep } from "../../src/base/monotonic.ts";
import type { ClusterView } from "./cluster-view.ts";
import { escapement } from "./product.ts";
import { type Records, readRecords } from "./records.ts";
import { tortureJobs } from "./torture-jobs.ts";

export interface Settled {
  readonly records: Records;
  /** False when the deadline came first. */
  readonly settled: boolean;
  /** Executions whose shards had used up their attempts, and were run again by `escapement rerun --failed`. */
  readonly reruns: number;
}

const betweenReadsMs = 1_000;
/** Commands that run side by side. */
const atATime = 3;

/** @param tell told how long each part took */
export async function settle(
  view: ClusterView,
  deadlineMs: number,
  tell: (line: string) => void,
): Promise<Settled> {
  const begun = monotonicMs();
  const lap = (what: string) => tell(`${what} after ${Math.round((monotonicMs() - begun) / 1_000)} s`);
  const url = view.cluster.storeUrl;
  const deadline = monotonicMs() + deadlineMs;
  for (const { name } of tortureJobs) {
    await caughtUp(view, deadline);
    await escapement(url, "jobs", "pause", name, "--reason", "end of the torture");
  }
  lap("paused");
  let reruns = 0;
  for (;;) {
    await drained(view, deadline);
    lap("drained");
    const failed = await failedExecutions(view);
    if (failed.length === 0 || monotonicMs() > deadline) break;
    for (let i = 0; i < failed.length; i += atATime)
      await Promise.all(failed.slice(i, i + atATime).map(({ job, fireTime }) => rerun(url, job, fireTime)));
    reruns += failed.length;
  }
  let records = await readRecords(view.db);
  while (monotonicMs() < deadline) {
    await sleep(betweenReadsMs);
    const again = await readRecords(view.db);
    const equal = fingerprint(again) === fingerprint(records);
    records = again;
    // A child may still be on its way out after its last word.
    if (equal && view.witness.live().length === 0) return { records, settled: await isDrained(view), reruns };
  }
  return { records, settled: false, reruns };
}

function rerun(url: string, job: string, fireTime: Date): Promise<string> {
  return escapement(url, "rerun", job, fireTime.toISOString(), "--failed", "--reason", "killed too often");
}

/** Waits until a leader plans ahead again, as it did before the faults; a job is paused from a healthy state. */
async function caughtUp(view: ClusterView, deadline: number): Promise<void> {
  for (;;) {
    const { rows } = await view.db.query<{ behind: number }>(
      `SELECT count(*) AS behind FROM escapement.job
       WHERE state = 'active' AND planned_until < clock_timestamp() + interval '5 s'`,
    );
    if (rows[0]?.behind === 0 || monotonicMs() > deadline) return;
    await sleep(200);
  }
}

async function drained(view: ClusterView, deadline: number): Promise<void> {
  while (!(await isDrained(view)) && monotonicMs() < deadline) await sleep(200);
}

async function isDrained(view: ClusterView): Promise<boolean> {
  const { rows } = await view.db.query<{ left: number }>(
    `SELECT (SELECT count(*) FROM escapement.execution_live) + (SELECT count(*) FROM escapement.shard_live) AS left`,
  );
  return rows[0]?.left === 0;
}

async function failedExecutions(view: ClusterView): Promise<{ job: string; fireTime: Date }[]> {
  const { rows } = await view.db.query<{ job: string; fireTime: Date }>(
    `SELECT j.name AS job, e.fire_time AS "fireTime" FROM escapement.execution e JOIN escapement.job j USING (job_id)
     WHERE e.status = 'failed' ORDER BY e.fire_time`,
  );
  return rows;
}

function fingerprint({ executions, attempts }: Records): string {
  return `${executions.length} ${attempts.length} ${attempts.filter((row) => row.status === "success").length}`;
}
