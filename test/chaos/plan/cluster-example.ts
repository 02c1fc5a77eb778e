/** Two schedulers, three executors, a store and a watchman, for tests of plans. */
import type { ClusterHost, ClusterRoles } from "../../../src/chaos/plan/drilled-cluster.ts";
import type { DrillVariant } from "../../../src/spec/drill-definition.ts";

const unitOf = {
  scheduler: "escapement-scheduler.service",
  executor: "escapement-executor.service",
  "record-store": "postgresql@15-main.service",
  watchman: "escapement-watchman.service",
} as const;

export function host(name: string, ...parts: ClusterHost["parts"]): ClusterHost {
  const units = Object.fromEntries(parts.map((part) => [part, unitOf[part]]));
  return { name, addresses: [`10.0.0.${name.length}`], parts, units };
}

export const hosts: readonly ClusterHost[] = [
  host("sched-1", "scheduler"),
  host("sched-2", "scheduler"),
  host("exec-1", "executor"),
  host("exec-2", "executor"),
  host("exec-3", "executor"),
  host("store-1", "record-store"),
  host("watch-1", "watchman"),
];

export function executor(node: string, probes = 0, state = "active", expired = false) {
  return { node, probes, state, expired, cpu: 8, memory: 1, io: 8 };
}

export const roles: ClusterRoles = {
  leader: { node: "sched-2", alive: true },
  schedulers: [
    { node: "sched-1", role: "standby" },
    { node: "sched-2", role: "leader" },
  ],
  executors: [executor("exec-1"), executor("exec-2", 2), executor("exec-3", 1), executor("watch-1", 9)],
  backlog: 0,
};

export function variant(
  role: DrillVariant["target"]["role"],
  fault: DrillVariant["fault"],
  more: Partial<DrillVariant> = {},
): DrillVariant {
  return {
    name: "one",
    target: { role, ...(role === "executor" && { owning: "running-shard" as const }) },
    fault,
    hold: { ms: 30_000 },
    limitAfterHoldMs: 15_000,
    proof: [{ see: "process-gone", from: "controller" }],
    pass: { allowedFailures: [], refusedStaleWrites: 0, culpritNamed: false },
    ...more,
  };
}

export const kill = { kind: "kill", restart: "allowed" } as const;
export const cut = { kind: "cut", direction: "both", keep: [] } as const;
