/** What the supervisor is told about an attempt that is to be started. */
import { join, resolve } from "node:path";
import type { Attempt } from "./attempt.ts";
import { attemptEnvironment } from "./attempt-environment.ts";
import type { ExecutorContext } from "./context.ts";
import { scopeOrder } from "./job-scope.ts";
import type { StartCommand } from "./supervisor/protocol.ts";

/** From SIGTERM to SIGKILL of a child that timed out or was cancelled. */
export const killAfterMs = 5_000;

/**
 * @param socket path of the report socket
 * @param toSupervisorClock moves an instant of our monotonic clock to the supervisor's
 */
export function startCommand(
  { cluster, node }: ExecutorContext,
  attempt: Attempt,
  socket: string,
  toSupervisorClock: (instantMs: number) => number,
): StartCommand {
  const { claim, order, definition, deadlineMs } = attempt;
  const freeze = definition.shards.by === "frozen" && attempt.freezes ? definition.shards.freeze : undefined;
  const place = definition.workingDirectory;
  const scope = cluster.executor.isolation === "scope" ? scopeOrder(attempt) : null;
  return {
    op: "start",
    id: attempt.id,
    command: freeze ?? definition.command,
    workingDirectory:
      place === undefined
        ? join(node.workDirectory, `${order.executionId}-${claim.shardNo}-${claim.attempt}`)
        : resolve(place),
    // In a scope the folder belongs to the job's user: whoever starts the scope makes it.
    ownsDirectory: place === undefined && scope === null,
    environment: attemptEnvironment(attempt, socket, process.env),
    deadlineMs: deadlineMs === null ? null : toSupervisorClock(deadlineMs),
    timeoutMs: definition.timeoutMs,
    killAfterMs,
    log: {
      file: join(cluster.logs.directory, node.name, definition.namespace, `${definition.name}.log`),
      label: `${claim.fireTime.toISOString()} shard=${claim.shardNo} attempt=${claim.attempt}`,
      maxFileBytes: cluster.logs.maxFileBytes,
      keepFiles: cluster.logs.keepFiles,
    },
    scope,
    capture: freeze !== undefined,
  };
}
