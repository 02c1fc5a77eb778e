/** What every part of one executor process shares. */
import type { Log } from "../base/log.ts";
import type { ClusterDefinition, ExecutorNode } from "../spec/cluster-definition.ts";
import type { Database } from "../store/database.ts";
import type { HostFacts } from "./host-facts.ts";
import type { ExecutorMetrics } from "./metrics.ts";

/** The part of a cluster that executors need. */
export type ExecutorCluster = Pick<ClusterDefinition, "executor" | "catchUp" | "logs">;

export interface ExecutorContext {
  readonly cluster: ExecutorCluster;
  readonly node: ExecutorNode;
  readonly host: HostFacts;
  /** For everything but the lease. */
  readonly db: Database;
  readonly log: Log;
  readonly metrics: ExecutorMetrics;
  /** Program and arguments that start a supervisor. */
  readonly supervisorCommand: readonly [string, ...string[]];
  readonly onLogTrouble: (file: string, reason: string, droppedBytes: number) => void;
}
