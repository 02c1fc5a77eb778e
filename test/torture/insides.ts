/** Where a process can be caught in the middle of a statement. */
import type { ClusterNode } from "../../src/lab/cluster-node.ts";
import type { Phase } from "./fault-plan.ts";

/** How to catch a process in the middle of a statement: the rows it runs into, and the statements meant. */
export const insides = {
  "leader-planning": {
    // One job, so that the fires of the others are opened meanwhile.
    lock: "SELECT 1 FROM escapement.job WHERE state = 'active' ORDER BY job_id DESC LIMIT 1 FOR UPDATE",
    statements: ["escapement.plan("],
    phaseOf: (): Phase => "leader-planning",
  },
  "leader-opening": {
    // The records of the next fires: whoever opens them has to write there.
    lock: `SELECT 1 FROM escapement.execution WHERE status = 'planned'
      AND fire_time BETWEEN clock_timestamp() AND clock_timestamp() + interval '5 s' FOR UPDATE`,
    statements: ["escapement.open_due("],
    phaseOf: (role: ClusterNode["role"]): Phase =>
      role === "scheduler" ? "leader-opening" : "executor-opening",
  },
  reclaim: {
    lock: "SELECT 1 FROM escapement.executor WHERE pid = $1 AND state IN ('active', 'draining') FOR UPDATE",
    statements: ["escapement.take_over(", "escapement.reap("],
    phaseOf: (): Phase => "reclaim",
  },
} as const;
