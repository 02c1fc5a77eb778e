/** The chosen shard of an execution: attempts that did not succeed, and the end of its log where this machine has it. */
import type { Queryable } from "../../store/database.ts";
import { attemptsOf } from "../../store/ui/execution-look.ts";
import { executionScreen } from "../screens/execution.ts";
import { currentView, listOf, type State } from "../state/state.ts";
import { tailOfShard } from "./log-tail.ts";
import type { ShardDetail } from "./picture.ts";

export async function readShardDetail(
  db: Queryable,
  state: State,
  logDirectory: string | null,
): Promise<ShardDetail | null> {
  const view = currentView(state);
  if (view.screen !== "execution") return null;
  const detail = state.picture.execution?.value;
  const shardNo = Number(executionScreen.rows(state).keys[listOf(state).index] ?? Number.NaN);
  const shard = detail?.shards.find((one) => one.shardNo === shardNo);
  const execution = detail?.execution;
  if (!shard || !execution || detail.jobId !== view.jobId) return null;
  const attempts = await attemptsOf(db, view.jobId, new Date(view.fireMs), shardNo);
  const log = await tailOfShard(logDirectory, {
    node: shard.owner ?? attempts[0]?.owner ?? null,
    namespace: execution.namespace,
    job: execution.name,
    fireTime: new Date(view.fireMs),
    shardNo,
    attempt: shard.attempt,
  });
  return { jobId: view.jobId, fireMs: view.fireMs, shardNo, attempts, log };
}
