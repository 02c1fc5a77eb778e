/** One job, opened: its executions of 35 days and what people did to it. */
import type { Queryable } from "../../store/database.ts";
import { listExecutions } from "../../store/execution.ts";
import { operationsOf } from "../../store/operation.ts";
import { currentView, type State, storeNow } from "../state/state.ts";
import type { JobDetail } from "./picture.ts";

const lookBackMs = 35 * 86_400_000;

export async function readJobDetail(db: Queryable, state: State): Promise<JobDetail | null> {
  const view = currentView(state);
  const now = storeNow(state);
  if (view.screen !== "job" || !now) return null;
  const executions = await listExecutions(db, {
    jobId: view.jobId,
    from: new Date(now.getTime() - lookBackMs),
    to: new Date(now.getTime() + 600_000),
    limit: 200,
  });
  return { jobId: view.jobId, executions, operations: await operationsOf(db, view.jobId, 5) };
}
