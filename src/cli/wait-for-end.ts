/** Waits for an execution to end, telling on standard error how far it is. */
import { sleep } from "../base/monotonic.ts";
import type { Database } from "../store/database.ts";
import { type ExecutionRow, endedStatuses, findExecution } from "../store/execution.ts";
import type { JobRow } from "../store/job.ts";
import { listShards } from "../store/shard.ts";
import { say } from "./terminal.ts";

const lookEveryMs = 300;

/** The execution as it ended. Ends only with it: stop waiting with Ctrl-C, the execution goes on. */
export async function waitForEnd(db: Database, job: JobRow, fireTime: Date): Promise<ExecutionRow> {
  let told = "";
  for (;;) {
    const execution = await findExecution(db, job.jobId, fireTime);
    if (execution && endedStatuses.includes(execution.status)) return execution;
    const shards = await listShards(db, job.jobId, fireTime);
    const done = shards.filter((shard) => shard.status === "success").length;
    const progress = `${execution?.status ?? "planned"}: ${done} of ${shards.length} shards done`;
    if (progress !== told) say(progress);
    told = progress;
    await sleep(lookEveryMs);
  }
}
